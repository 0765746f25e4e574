// SPDX-License-Identifier: MIT
// The state of a git operation that is not finished: what `git rebase --continue` and the like
// would execute.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns a list of git rebase without the lines that execute a command, NULL: there are none.
const char *unfinished_without_commands(struct arena *arena, const char *todo);
// Returns whether a merge strategy is a plain name: git executes git-merge-NAME.
bool unfinished_strategy_is_harmless(const char *text);
// Does the same for the options of git cherry-pick and git revert, a file of git's configuration.
bool unfinished_options_are_harmless(struct arena *arena, const char *text);
// Returns whether with these options of git am, git apply writes nothing outside of the worktree.
bool unfinished_apply_is_harmless(struct arena *arena, const char *text);
