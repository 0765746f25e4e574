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
// Adds the numbers of added and removed lines.
void changes_count_lines(const struct store *store, struct arena *arena, const char *before,
			 const char *after, file_changes *changes);
// Reads a file of a snapshot, at most `limit` bytes. Returns NULL if it is larger or missing.
const char *changes_read(const struct store *store, struct arena *arena, const char *object,
			 size_t limit, size_t *ret_length);
// Returns whether files that git ignored at the start may look new, because the session changed the
// patterns.
bool changes_ignore_less(const file_changes *changes);
// Returns whether a new file is older than the session: git ignored it at the start. A file that
// was renamed and edited is older too, so this counts only if the session ignores less.
bool changes_is_older(const struct store *store, struct arena *arena, const file_changes *changes,
		      const struct file_change *change, int64_t started_ms);
