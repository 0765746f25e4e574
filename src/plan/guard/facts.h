// SPDX-License-Identifier: MIT
// Facts about the protected places of a project, as data: collected by src/probe/guard.c.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/guard/places.h"

#include <stdbool.h>
#include <stdint.h>

// What is mounted over a place that exists.
enum guard_mount {
	GUARD_PIN,       // itself: a box cannot rename it
	GUARD_READ_ONLY, // itself, read-only
	GUARD_COPY,      // a copy that the box may write: of a git configuration, by a link to it,
			 // or of a directory of generated hooks
	GUARD_MOUNT_COUNT,
};
extern const char *const guard_mount_names[GUARD_MOUNT_COUNT];

struct guard_place {
	const char *path;
	struct file_id id;
	enum guard_mount mount;
	const struct guard_row *row; // NULL: of a pin
	bool other_names;            // the file has another hard link
};
typedef VEC(struct guard_place) guard_places;

// A file that a setting of git names. The guard watches it like a row of the table, if it exists or
// not.
struct guard_target {
	const char *path; // absolute; NULL: the name alone counts
	const char *name; // relative to the top of each worktree and nested repository, NULL: none
	bool directory;   // what lies below it counts too
	const struct guard_row *row;
};
typedef VEC(struct guard_target) guard_targets;

// The index of git when it was read for the facts, so that the guard need not read it again.
struct guard_index {
	struct file_id id; // inode 0: there was none
	int64_t size;
	int64_t change_ns; // ctime
	bool hides;        // it has a repository among dependencies, or cannot be understood
};

struct guard_facts {
	struct guard_index index;
	guard_places places;      // that exist and that git does not track, parents first
	strings git_directories;  // of the repository and its submodules
	strings tracked;          // places that git tracks, relative to the project
	strings released;         // of these: protected in the last box
	bool index_unreadable;    // git's index is split or damaged
	bool tracked_from_record; // ... and the places that git tracked at the last start count
	guard_targets targets;    // files that settings of git name
	bool too_many_targets;    // not all of them are listed
	bool too_many;            // not all submodules could be listed
};
