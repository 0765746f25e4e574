// SPDX-License-Identifier: MIT
// The lines of a conversation: each is a JSON object.
#pragma once

#include "base/arena.h"

// Returns the kind of the first secret in a line, NULL: none. A line that is no JSON is searched as
// text.
const char *transcript_find_secret(const char *line);
// Returns the kind of the first secret in a part of a long line, NULL: none.
const char *transcript_find_in_part(const char *part);
