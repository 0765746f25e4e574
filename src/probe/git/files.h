// SPDX-License-Identifier: MIT
// Files that belong to the user's git configuration, and what the repository needs of git-lfs.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Returns the text of a file of the user's git configuration. NULL: it does not exist, or
// *ret_problem says why it is not used. `flags` are those of probe_settings_file().
const char *probe_git_file(struct arena *arena, const struct facts *facts, const char *path,
			   int flags, const char **ret_problem);
// Reads the files that the user's settings name, and the filters that attributes name.
void probe_git_files(struct facts *facts, struct arena *arena);
// Finds the directories of programs that have git-lfs, if the configuration or the repository uses
// it. Needs the facts about PATH and mounts.
void probe_git_lfs(struct facts *facts, struct arena *arena);
