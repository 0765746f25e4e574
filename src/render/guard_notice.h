// SPDX-License-Identifier: MIT
// Lines about files that the guard moves to quarantine.
#pragma once

#include "base/arena.h"

#include <stddef.h>

// Returns the line that is shown while a program of the box uses the screen: it names the file if
// `count` is 1, otherwise it counts. It takes at most `columns` columns, from 39 on. `path` is
// relative to the project if the file lies in it.
const char *render_guard_notice(struct arena *arena, const char *path, size_t count,
				size_t columns);
// Returns "1 file" or "N files"; "N or more files" at the number up to which they are counted.
const char *render_file_count(struct arena *arena, size_t count, size_t most);
