// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/store.h"

#include <jansson.h>
#include <stdbool.h>

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
git_refs refs_parse(struct arena *arena, const json_t *json);
// Sets the references of a repository to the values of `wanted`, from those of `present`, and HEAD
// too. Each present value that no reference has any more is kept under refs/claudebox/. Nothing is
// changed if one of them has another value by now, or its object is missing.
bool refs_restore(const struct store *store, const char *git_directory, const char *id,
		  const git_refs *present, const git_refs *wanted, struct error *error);
