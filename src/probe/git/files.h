// SPDX-License-Identifier: MIT
// Files that belong to the user's git configuration, and what the repository needs of git-lfs.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Reads the files that the user's settings name, and the filters that attributes name.
void probe_git_files(struct facts *facts, struct arena *arena);
// Finds the directories of programs that have git-lfs, if the configuration or the repository uses
// it. Needs the facts about PATH and mounts.
void probe_git_lfs(struct facts *facts, struct arena *arena);
