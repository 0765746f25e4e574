// SPDX-License-Identifier: MIT
// Searches directories: watches them, examines their entries, and queues the directories in them.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>

// Lists the directories with planned places.
void search_list_parents(struct watcher *watcher);
// Queues the git directories outside of the project, and the project.
void search_queue_tops(struct watcher *watcher);
// Searches the next queued directory. Returns false if there is none.
bool search_next(struct watcher *watcher);
// Watches a directory, examines its entries, and queues the directories in it. `moved_in`: the box
// created or renamed it, so its files are the box's, even those that an earlier box wrote.
void search_directory(struct watcher *watcher, const char *path, bool moved_in);
// Opens a directory to search it. Adds permissions that the box has taken away.
int search_open(struct watcher *watcher, const char *path);
// Returns whether the entries of a directory are of no interest: dependencies, and objects of git.
bool search_skips(const struct watcher *watcher, const char *directory, const char *name);
// Notes a directory of dependencies, for the search at the end.
void search_note_dependencies(struct watcher *watcher, const char *directory, const char *name);
// Searches directories of dependencies for repositories, after the box has ended: a commit of the
// box can have one as a submodule.
void search_dependencies(struct watcher *watcher);
// Searches directories of dependencies from now on, if the index of a git directory has a
// repository in one: git runs the programs of its configuration for a plain `git status`.
void search_check_index(struct watcher *watcher, const char *git_directory);
