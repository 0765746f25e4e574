// SPDX-License-Identifier: MIT
// Reads the Claude files that no earlier start has found to be without secrets.
#pragma once

#include "base/arena.h"
#include "plan/claude/searched.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct searched_files {
	struct arena *arena;
	struct searched list;
	bool enabled;       // false: each file is searched
	uint64_t before_ns; // files that changed later are searched again at the next start
	// Of the last file: whether the times of change on its file system are reliable.
	dev_t device;
	bool reliable;
};

// Reads the list of earlier starts.
void searched_files_start(struct searched_files *files, struct arena *arena,
			  const struct facts *facts);
// Returns whether an earlier start has found this version of a file to be without secrets.
// `judged_as` is the name that it is judged by.
bool searched_files_have(struct searched_files *files, int directory, const char *name,
			 const char *judged_as);
// Reads a file up to CLAUDE_TEXT_LIMIT. Returns NULL on failure. Stores what identifies it for
// searched_files_add(); the inode is 0 if the file may have changed meanwhile.
char *searched_files_read(struct searched_files *files, struct arena *arena, int directory,
			  const char *name, const char *judged_as, size_t *ret_length,
			  struct searched_file *ret_file);
// Adds a file that has no secret and nothing doubtful.
void searched_files_add(struct searched_files *files, const struct searched_file *file);
// Stores the new list in the facts, if it has changed.
void searched_files_finish(const struct searched_files *files, struct facts *facts);
