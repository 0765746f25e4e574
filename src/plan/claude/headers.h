// SPDX-License-Identifier: MIT
// The usual forms of HTTP headers that contain no credentials.
#pragma once

#include <stdbool.h>

// Returns whether a header has a known name, and its value the usual form of such a header.
bool header_is_usual(const char *name, const char *value);
