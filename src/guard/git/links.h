// SPDX-License-Identifier: MIT
// Symbolic links and special files in git directories, which git itself does not create.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>

// Returns the part of a path below the outermost git directory that contains it, "" for the git
// directory itself. NULL: no git directory contains it.
const char *git_below(const struct watcher *watcher, const char *path);
// Returns whether a directory is one of those of which a repository can have many: of references,
// logs and recorded conflicts.
bool git_is_numerous(const struct watcher *watcher, const char *path);
// Returns whether a directory of a git directory contains only objects, whose names are hashes.
bool git_has_objects(const char *directory, const char *name);
// Judges an entry of a git directory that is no regular file and no directory.
void git_link_judge(struct watcher *watcher, const char *directory, const char *name);
// Searches a git directory for such entries. `old`: they may be older than the session.
void git_links_search(struct watcher *watcher, const char *path, bool old);
// Searches all git directories that are known.
void git_links_finish(struct watcher *watcher);
