// SPDX-License-Identifier: MIT
// Files that were judged by their content, and the processes that can still write to them.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>

// Raises the limit of open files, for those that are kept.
void writers_prepare(void);
// Keeps an open descriptor of a file that is judged. Opens it only if it is another file than
// before. Returns false if there are too many: the search at the end judges it again.
bool writers_keep(struct watcher *watcher, int directory, const char *name, const char *path);
// Looks whether a process has a kept file open for writing, or mapped.
void writers_look(struct watcher *watcher, const char *path);
// Returns whether a process has an open file open for writing, or mapped for writing.
bool writers_has(int fd);
// Examines all kept files again.
void writers_examine(struct watcher *watcher);
// Returns whether a kept file has a writer.
bool writers_exist(const struct watcher *watcher);
// Judges the files with writers again, and takes the file from a writer that stays.
void writers_judge(struct watcher *watcher);
