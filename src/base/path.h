// SPDX-License-Identifier: MIT
// Lexical work on absolute paths: nothing here looks at a file system.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

const char *path_join(struct arena *arena, const char *directory, const char *name);
// The directory part, "/" at the top.
const char *path_parent(struct arena *arena, const char *path);
const char *path_name(const char *path);
// Without ".", "..", "//" and a trailing "/".
const char *path_clean(struct arena *arena, const char *path);
// True when `path` is `directory` or lies below it.
bool path_within(const char *path, const char *directory);
// "~/x" for what lies in `home`; for the reader only.
const char *path_tilde(struct arena *arena, const char *path, const char *home);
// "~/x", "$HOME/x" and "${HOME}/x" as the path they stand for; anything else as it is.
const char *path_expand_home(struct arena *arena, const char *word, const char *home);
