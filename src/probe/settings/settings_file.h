// SPDX-License-Identifier: MIT
// Reads a file with settings of a program of the user.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"

#include <stddef.h>

enum { SETTINGS_LIMIT = 256 * 1024, SETTINGS_LINKED = 1, SETTINGS_USUAL_NAME = 2 };

// Returns the text of the file, or NULL and why it is not used: it is no regular file, belongs to
// another user, is longer than `limit`, or has another name (a hard link). With
// SETTINGS_LINKED in `flags`, it may have other names. With SETTINGS_USUAL_NAME, claudebox itself
// looks for this name, so src/probe/own_files.c does not take it for that of a secret (go.env).
const char *probe_settings_file(struct arena *arena, const struct facts *facts,
				const struct followed *file, size_t limit, int flags,
				const char **ret_problem);
