// SPDX-License-Identifier: MIT
// Opens and reads files without following symbolic links, and resolves symbolic links.
#pragma once

#include "base/arena.h"
#include "base/file.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { READ_FOLLOW = 1 };

// Resolves every symbolic link of a path, component by component.
struct followed file_follow(struct arena *arena, const char *path);

// Reads the text of a small regular file. Returns NULL if it is missing, longer than `limit`, not a
// regular file, or contains a NUL byte. Never blocks. Without READ_FOLLOW in `flags`, no component
// of the path may be a symbolic link.
const char *file_read(struct arena *arena, const char *path, size_t limit, int flags);
// Does the same for an open file.
const char *file_read_descriptor(struct arena *arena, int fd, size_t limit);
// Does the same for a path relative to `directory`, without following symbolic links.
const char *file_read_at(struct arena *arena, int directory, const char *name, size_t limit);
// Does the same in a directory that a box can write: the file must belong to this user and have no
// other name (a hard link).
const char *file_read_single_at(struct arena *arena, int directory, const char *name, size_t limit);
// Does the same for any content. A NUL follows the bytes.
char *file_read_bytes_at(struct arena *arena, int directory, const char *name, size_t limit,
			 size_t *ret_length);

// Does the same for an open file.
char *file_read_bytes(struct arena *arena, int fd, size_t limit, size_t *ret_length);

// Opens a path close-on-exec. No component may be a symbolic link. Returns -1 with errno on
// failure.
int file_open(int directory, const char *path, int flags);

// Returns whether `fd` is the file that was probed (an `id` of 0: any file) and not a symbolic
// link. Inode numbers are reused, so a link can have the number of the file that it replaced.
bool file_is_same(int fd, const struct file_id *id);
// Returns the identity of a file.
struct file_id file_identity(const struct stat *status);

// Opens a directory for readdir(3) without following a symbolic link; "." lists `parent` itself.
// Returns NULL with errno on failure.
DIR *open_directory_stream(int parent, const char *name);
