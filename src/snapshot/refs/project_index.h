// SPDX-License-Identifier: MIT
// The index of the project's repository: a copy, a digest of its entries, and its replacement.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

// Copies the index of a repository to the directory of a session. If there is none, the copy is
// empty.
bool project_index_copy(int session, const char *git_directory, struct error *error);
// Returns a digest of the entries of the index in a git directory, or of its copy in the directory
// of a session. `git status` does not change it.
const char *project_index_digest(struct arena *arena, const char *directory);
// Returns whether two digests (NULL: not known) are of different entries. Those of indexes that
// cannot be read say nothing: git changes their bytes by itself.
bool project_index_differs(const char *one, const char *other);
// Returns the digest of the copy in the directory of a session, NULL: there is no copy.
const char *project_index_digest_copy(struct arena *arena, const char *session);

// A replacement of the index that is prepared under git's lock.
struct project_index {
	int directory; // of the repository, -1: nothing is prepared
	bool remove;   // the index
};

#define PROJECT_INDEX_NONE      \
	(struct project_index)  \
	{                       \
		.directory = -1 \
	}

// Takes git's lock and writes the copy of a session there. Without a copy, nothing is prepared. An
// empty copy removes the index.
bool project_index_prepare(struct project_index *index, const char *git_directory,
			   const char *session, struct error *error);
// Replaces the index.
bool project_index_replace(struct project_index *index, struct error *error);
// Releases git's lock without a replacement.
void project_index_cancel(struct project_index *index);
