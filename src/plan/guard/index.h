// SPDX-License-Identifier: MIT
// Reader of git's index file, versions 2 to 4.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Parts of a mode. git looks only at the type: compare (mode & GIT_MODE_TYPE) with GIT_MODE_LINK.
enum {
	GIT_MODE_TYPE = 0170000,
	GIT_MODE_DIRECTORY = 0040000, // of a sparse index; its path ends with '/'
	GIT_MODE_FILE = 0100000,
	GIT_MODE_SYMLINK = 0120000,
	GIT_MODE_LINK = 0160000, // a submodule or a nested repository
};

enum git_index_result {
	GIT_INDEX_OK,
	GIT_INDEX_DAMAGED, // it cannot be read, or programs can read it in different ways
	GIT_INDEX_SPLIT,   // a part of its entries is in another file
};

// An entry. The path has a NUL at its end and may be any bytes: nothing is known about ".." or a
// leading '/'. Both pointers are valid while the entry is handled.
struct git_index_entry {
	const char *path;
	size_t length;
	uint32_t mode;
	const unsigned char *id;     // of its content, hash_size bytes
	const unsigned char *status; // of the file when git read it, for git_index_status_of()
};

// The status of a file as git keeps it: the low 32 bits of each number.
struct git_index_status {
	uint32_t ctime;
	uint32_t ctime_ns;
	uint32_t mtime;
	uint32_t mtime_ns;
	uint32_t device;
	uint32_t inode;
	uint32_t mode;
	uint32_t user;
	uint32_t group;
	uint32_t size;
};

// Handles one entry. Returns false to end the walk.
typedef bool (*git_index_handler)(void *context, const struct git_index_entry *entry);

// Calls `handle` for each entry of an index, after the structure of the whole file was checked.
// hash_size is 20 for a repository with SHA-1, 32 with SHA-256. Only GIT_INDEX_OK means that every
// entry was passed on, or that the handler ended the walk.
enum git_index_result git_index_walk(const unsigned char *bytes, size_t size, size_t hash_size,
				     struct arena *arena, git_index_handler handle, void *context);
// Returns what an entry says about its file.
struct git_index_status git_index_status_of(const struct git_index_entry *entry);
// Adds mode, flags, object and path of each entry to a text. Times and sizes of files, which git
// refreshes by itself, are not in it. Nothing is added unless the result is GIT_INDEX_OK.
enum git_index_result git_index_describe(const unsigned char *bytes, size_t size, size_t hash_size,
					 struct arena *arena, struct text *out);
