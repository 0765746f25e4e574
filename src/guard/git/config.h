// SPDX-License-Identifier: MIT
// Judges a configuration of git by its content.
#pragma once

#include "guard/watcher.h"

// Adds the entries of a configuration to those that are the user's.
void git_config_accept(struct watcher *watcher, const char *path, const char *text);
// Judges directory/name, a file of configuration in the open git directory `fd`.
void git_config_judge(struct watcher *watcher, int fd, const char *directory, const char *name);
