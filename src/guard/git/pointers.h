// SPDX-License-Identifier: MIT
// Judges the files of a git directory that lead git to another directory.
#pragma once

#include "guard/watcher.h"

enum { GIT_POINTER_LIMIT = 4096 };

// Returns the absolute path in a pointer, NULL: the file has none.
const char *git_pointer_read(struct arena *arena, int fd, const char *directory, const char *name,
			     const char *prefix);
// Judges the pointers of an open git directory.
void git_pointers_judge(struct watcher *watcher, int fd, const char *directory);
