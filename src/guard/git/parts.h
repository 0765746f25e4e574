// SPDX-License-Identifier: MIT
// Judges the directories of a git directory whose files git executes or trusts: hooks, addresses of
// remotes, attributes, alternates.
#pragma once

#include "guard/watcher.h"

// Notes which directories an open git directory has.
void git_parts_identify(struct repository *repository, int fd);
// Moves the new files of these directories that git would use.
void git_parts_judge(struct watcher *watcher, const struct repository *repository, int fd,
		     const char *path);
// Mounts over the hooks of a repository further down. Not over their directory: a box may remove a
// repository that has only samples.
void git_parts_protect_hooks(struct watcher *watcher, int fd, const char *path);
