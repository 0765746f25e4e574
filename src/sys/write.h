// SPDX-License-Identifier: MIT
// Writes files in directories that a box can change: follows no symbolic link, writes no file in
// place.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// Writes all bytes to fd. Returns false with errno on failure.
bool write_all(int fd, const void *bytes, size_t count);

// Writes a value to a file of /proc, /sys or a cgroup, with one write(2). Returns false with errno
// on failure.
bool write_kernel_file(int directory, const char *name, const char *value);

// Sets the error "cannot OPERATION 'path'" from errno, with a hint for that errno. Returns false
// and keeps errno.
bool write_fail(struct error *error, const char *operation, const char *path);

// Opens a directory without following a symbolic link. Creates it with mode 0700 if it is missing,
// and adds the owner's permissions, which a box can remove. `shown` is its path in messages.
// Returns -1 with an error on failure.
int open_directory(int parent, const char *name, const char *shown, struct error *error);

// Creates a file for writing with mode 0600, whatever the umask is. Returns -1 with errno.
int create_file(int directory, const char *name);

// Frees a name in a directory: renames the entry to NAME.own, NAME.own1 and so on (NAME.own-RANDOM
// if those are taken), or removes it if it is a symbolic link. Returns true if there is no such
// entry, false with an error on failure.
bool move_aside(int directory, const char *name, struct error *error);

// Replaces a file by rename(2) with one of this content. A directory of that name is moved aside.
// Returns false with an error on failure.
bool replace_file(int directory, const char *name, const char *content, struct error *error);

// Does the same for content that is not text.
bool replace_file_bytes(int directory, const char *name, const void *bytes, size_t count,
			struct error *error);

// Returns the temporary name of a file, which remove_temporaries() recognises.
const char *write_temporary_name(struct arena *arena, const char *name);

// Removes the temporary files in a directory that replace_file() left there when its process was
// killed. Reads a bounded number of entries.
void remove_temporaries(int directory);
