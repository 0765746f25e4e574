// SPDX-License-Identifier: MIT
// Judges git operations that a box has not finished.
#pragma once

#include "guard/watcher.h"

// Judges the rebase, cherry-pick, revert or am that is in progress in a git directory, after the
// box has ended. While it runs, a rebase of the agent may have commands.
void unfinished_judge(struct watcher *watcher, int fd, const char *directory);
