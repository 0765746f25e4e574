// SPDX-License-Identifier: MIT
// Visits the files of a directory tree, within limits.
#pragma once

#include "base/arena.h"

#include <dirent.h>
#include <stdbool.h>

// A directory that is visited.
struct walk_place {
	int fd;
	const char *path;
};

struct walk {
	struct arena *arena;
	// What is left of the limits; they hold for all calls with this struct.
	int entries;
	int directories;
	// Is called for each entry that is not a directory. Returns false to end the walk.
	bool (*visit)(void *context, const struct walk_place *place, const struct dirent *entry);
	void *context;
};

// Visits `root` and the directories below it, up to a depth (1: `root` alone). Does not follow
// symbolic links, and leaves out directories of dependencies, of build results and of git.
void walk_directory(struct walk *walk, const char *root, int depth);
