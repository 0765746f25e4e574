// SPDX-License-Identifier: MIT
// What a session changed, and what an undo will do, for people.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/report/change.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns a patch of git with escaped content, in colours.
const char *render_patch(struct arena *arena, const char *patch, size_t length,
			 struct reader reader);
// Returns the list of `--diff=stat`.
const char *render_statistics(struct arena *arena, const file_changes *changes,
			      struct reader reader);
// Adds the rows alone.
void render_statistics_add(struct screen *screen, const file_changes *changes);
// Returns "3 files changed, 10 insertions, 2 deletions".
const char *render_change_counts(struct arena *arena, const file_changes *changes);

// Returns "a, b/ and 7 more": as many of the paths as one line has room for. `count`: of all;
// `paths` may have fewer.
const char *render_some_paths(struct arena *arena, const strings *paths, size_t count);

// A path of an undo, for people.
struct undo_row {
	const char *what;   // "branch", "tag" ..., NULL: a file
	const char *path;   // or the name of the branch; NULL: none
	const char *to;     // what it is restored to, escaped; NULL: not shown
	const char *effect; // "restore", "delete" ..., NULL: it is left as it is
	const char *why;    // it is left
};
typedef VEC(struct undo_row) undo_rows;

// What an undo will do, before the question.
struct undo_view {
	undo_rows rows;
	const char *what; // whose changes: "the session of 18:04"
	strings notes;    // sentences
	size_t possible;  // files that are restored
	const char *list; // the command that lists all
	bool refs_left;   // branches and tags can be restored, and are not
};
// How many rows of an undo are listed.
enum undo_length {
	UNDO_SOME,   // the first of them
	UNDO_SCREEN, // as many as the screen has room for above a question
	UNDO_ALL,
};
const char *render_undo(struct arena *arena, const struct undo_view *view, struct reader reader,
			enum undo_length length);
// Returns "2 files, 1 branch and HEAD": what an undo changes.
const char *render_undo_count(struct arena *arena, const struct undo_view *view);

// Returns "branch", "tag", "remote branch", "stash", "HEAD" or "reference".
const char *render_ref_kind(const char *name);
// Returns the name of a branch or tag without its prefix.
const char *render_ref_name(const char *name);
