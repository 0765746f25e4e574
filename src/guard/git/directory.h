// SPDX-License-Identifier: MIT
// Judges a git directory by its content: what git would execute is moved to quarantine.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>

// Returns whether git takes an open directory for a git directory.
bool git_directory_is(int fd);
// Returns whether it is one, or has the name of one: `git init` of the user completes it, and keeps
// its configuration and hooks.
bool git_directory_may_be(int fd, const char *path);
// Returns whether `git clone` may still be about to read the configuration of a git directory: the
// session has just created it, and it has no reference.
bool git_directory_may_be_cloned(const struct watcher *watcher, int fd);
// Returns whether a git directory is that of a submodule, whose worktree is elsewhere.
bool git_is_module(const char *directory);
// Returns what git does with a part of a git directory, as the end of a sentence.
const char *git_part_reason(const char *name);
// Returns whether a path lies where git of this project may keep a git directory.
bool git_is_own(const struct watcher *watcher, const char *path);
// Returns whether only the user can have changed a part of a git directory.
bool git_part_is_left_alone(const struct watcher *watcher, struct arena *arena,
			    const char *directory, const char *name);
// Judges a git directory. `path` is its path on the host.
void git_directory_judge(struct watcher *watcher, const char *path);
// Judges all git directories that are known, after the box has ended.
void git_directories_finish(struct watcher *watcher);
// Judges a `.git`, which is a directory, a file with the path of one, or a link.
void git_pointer_judge(struct watcher *watcher, const char *directory, const char *name);
// Returns the git directory of the repository that contains a directory of the project, and stores
// the top of its worktree. NULL: there is none.
const char *git_directory_of(struct watcher *watcher, struct arena *arena, const char *directory,
			     const char **ret_top);
