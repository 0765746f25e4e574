// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct git_ref {
	const char *name;  // "refs/heads/main", or "HEAD"
	const char *value; // an object, or "ref: refs/heads/main" of HEAD
};
typedef VEC(struct git_ref) git_refs;

// Lists the references of a repository. Executes nothing of it. A repository that cannot be read
// has none.
git_refs refs_list(const struct store *store, struct arena *arena, const char *git_directory);
// Returns the value of a reference, NULL: there is none.
const char *refs_value(const git_refs *refs, const char *name);
json_t *refs_render(const git_refs *refs);
git_refs refs_parse(struct arena *arena, json_t *json);
// Returns the number of commits that the references have and that those before did not.
size_t refs_count_commits(const struct store *store, struct arena *arena, const char *git_directory,
			  const git_refs *before, const git_refs *after);

// Copies the index of a repository to the directory of a session.
bool refs_copy_index(int session, const char *git_directory, struct error *error);

// What --undo=commits works on.
struct refs_undo {
	const char *git_directory; // NULL: no repository
	const char *id;            // values that are lost stay under refs/claudebox/ID/
	const char *session;       // directory of the session, with a copy of the index
	git_refs present;
};

// Keeps a copy of the present index with the session record of the undo.
bool refs_save(const struct store *store, const struct refs_undo *undo, struct error *error);
// Restores the references that a session changed, HEAD and the index. Changes nothing and returns
// false with an error if one was changed since the session, or its object is missing.
bool refs_undo(const struct store *store, const struct refs_undo *undo, const git_refs *before,
	       const git_refs *after, struct error *error);
// Restores the references as they were before refs_undo().
bool refs_redo(const struct store *store, const struct refs_undo *undo, struct error *error);
