// SPDX-License-Identifier: MIT
// Conditions of includeIf in a git configuration.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// What the conditions are compared with.
struct git_place {
	const char *home;
	const char *directory; // the git directory, without symbolic links
	const char *branch;    // NULL: HEAD is detached, or there is none
	strings urls;          // of the remotes
	size_t *work;          // that is left, in bytes; with 0, no condition holds any more
};

// The work for the files of the user, and for those of a repository, which is not trusted: it takes
// less than half a second.
enum { GIT_CONDITION_WORK = 8 * 1024 * 1024 };

// Returns whether a condition such as "gitdir:~/work/" holds. `file` is the path of the file that
// contains it. An unknown condition does not hold, as in git.
bool git_condition_holds(struct arena *arena, const char *condition, const char *file,
			 const struct git_place *place);
