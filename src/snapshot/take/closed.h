// SPDX-License-Identifier: MIT
// Opens files and directories that a session has closed for their owner.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

// Lets the owner read a file that a session has closed since a time.
void closed_open_file(const char *path, int64_t since_ms);
// Opens the files at some paths of the project, which each end with NUL, and the directories above
// them. Returns whether there were directories.
bool closed_open_paths(struct arena *arena, const char *project, const struct text *paths,
		       int64_t since_ms);
// Opens all directories of the project.
void closed_open_tree(const char *project, int64_t since_ms);
