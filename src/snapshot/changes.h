// SPDX-License-Identifier: MIT
// What differs between two snapshots.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/report/change.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Lists the paths that differ between two trees, in git's order. Paths that are not in `only`, and
// do not lie below one of them, are left out, if there are any. Returns false with an error on
// failure.
bool changes_list(const struct store *store, const char *before, const char *after,
		  const strings *only, file_changes *ret_changes, struct error *error);
// Returns whether a path, or one below it, is among the changes. "": any path.
bool changes_have(const file_changes *changes, const char *path);
// Adds the numbers of added and removed lines.
void changes_count_lines(const struct store *store, struct arena *arena, const char *before,
			 const char *after, file_changes *changes);
// Reads a file of a snapshot, at most `limit` bytes. Returns NULL if it is larger or missing.
const char *changes_read(const struct store *store, struct arena *arena, const char *object,
			 size_t limit, size_t *ret_length);
// An object of a snapshot that is to be read.
struct blob {
	const char *object;
	size_t size; // set by changes_read_all()
};
// Handles the content of an object; a byte that does not belong to it follows. Returns false with
// an error to end the reading.
typedef bool (*blob_handler)(void *context, size_t number, const char *content, size_t size,
			     struct error *error);
// Reads many objects by few runs of git. Calls `handle` for each, in their order.
bool changes_read_all(const struct store *store, struct blob *blobs, size_t count,
		      blob_handler handle, void *context, struct error *error);
// The files that a session found at its start.
struct known_files {
	const char *id;     // of the session
	int64_t started_ms; // 0: the question does not arise
	bool read;
	bool complete;
	VEC(uint32_t) inodes; // sorted
};

// Returns whether a new file is the user's: it is older than the session, and was not saved,
// because git ignored it, or because it could not be read. A file that was saved and then renamed
// is older too, but its inode is known.
bool changes_is_older(struct known_files *known, const struct store *store, struct arena *arena,
		      const struct file_change *change);
