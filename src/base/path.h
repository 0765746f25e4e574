// SPDX-License-Identifier: MIT
// Lexical operations on absolute paths. No function accesses a file system.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns DIRECTORY/NAME, or `name` alone if it is absolute.
const char *path_join(struct arena *arena, const char *directory, const char *name);
// Returns the directory part; "/" for "/" and for a path without a slash.
const char *path_parent(struct arena *arena, const char *path);
// Returns the part after the last slash.
const char *path_name(const char *path);
// Returns the path without ".", "..", "//" and a trailing "/".
const char *path_clean(struct arena *arena, const char *path);
// Returns whether `path` is `directory` or lies below it.
bool path_within(const char *path, const char *directory);
// Returns whether one path is the other or lies below it.
bool path_overlaps(const char *a, const char *b);
// Returns a number, never 0, that differs for most paths that differ.
unsigned int path_key(const char *path);
// Returns the path with "~" in place of `home`, for display only.
const char *path_tilde(struct arena *arena, const char *path, const char *home);
// Returns the path that "~/x", "$HOME/x" or "${HOME}/x" stands for; any other word is returned as
// it is.
const char *path_expand_home(struct arena *arena, const char *word, const char *home);
