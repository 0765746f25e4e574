// SPDX-License-Identifier: MIT
// The directory where an undo keeps files that it has taken away or will put there.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/store.h"
#include "snapshot/take/modes.h"
#include "snapshot/undo/progress.h"

#include <stdbool.h>
#include <stddef.h>

enum { STAGE_NAME_SIZE = 32 };

// The directories of an undo.
struct stage {
	const struct store *store;
	const struct modes *modes; // of the files at the start
	struct arena *arena;
	struct progress progress;
	int project;
	int directory; // has the file NUMBER.new of each step, and NUMBER.old of those that are done
	bool in_project;
};

#define STAGE_FOR(of, in)                                                     \
	(struct stage)                                                        \
	{                                                                     \
		.store = (of), .arena = (in), .project = -1, .directory = -1, \
	}

// Returns the name of the file of a step: "7.old".
const char *stage_name(char name[STAGE_NAME_SIZE], size_t number, const char *suffix);
// Opens the directory of a path in the project, and lets its owner write it. Follows no link.
// Creates missing directories if `create`. Returns -1 with errno.
int stage_open_parent(const struct stage *stage, const char *path, bool create);
// Removes the directories of a path that are empty.
void stage_remove_parents(const struct stage *stage, const char *path);
// Opens the directories. That for the files is on the file system of the project, so that rename(2)
// works.
bool stage_open(struct stage *stage, bool create, struct error *error);
// Removes the directory with all files in it.
void stage_remove(struct stage *stage);
// Removes the journal and the directory. The journal goes first: without one, the next command does
// no step.
void stage_end(struct stage *stage);
void stage_close(struct stage *stage);
// Returns whether a directory has a file.
bool stage_has(int directory, const char *name);
// Removes a directory that has nothing but empty directories in it.
void stage_remove_empty_tree(int parent, const char *name);
