// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
#pragma once

#include "base/arena.h"
#include "snapshot/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Values that an undo replaces stay below this name.
#define REFS_KEPT "refs/claudebox/"

// Switches off all programs that the configuration of a repository can name.
#define REFS_SAFE                                                                                 \
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",                     \
		"core.alternateRefsCommand=:", "-c", "maintenance.auto=false", "-c", "gc.auto=0", \
		"-c", "safe.directory=*"

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

// Returns the number of commits that a reference has got and lost. Returns false if the repository
// does not have both commits.
bool refs_count_moved(const struct store *store, struct arena *arena, const char *git_directory,
		      const char *before, const char *after, size_t *ret_new, size_t *ret_lost);
// Returns whether --undo=commits restores a reference: branches, tags, notes and HEAD, but not the
// stash and branches of remotes.
bool refs_is_restored(const char *name);
// Returns whether a value is the id of an object.
bool refs_is_object(const char *value);
// Returns whether the repository was removed, or cannot be read any more.
bool refs_are_lost(const git_refs *before, const git_refs *after);
// Makes a reference, so that git does not remove an object.
bool refs_keep(const struct store *store, struct arena *arena, const char *git_directory,
	       const char *name, const char *object);
