// SPDX-License-Identifier: MIT
// Files and directories, as the attacks use them. Functions return -errno on failure.
#pragma once

#include "prove/protocol.h"

#include <stddef.h>

// Opens a file without blocking and without making a terminal the controlling terminal.
long open_file(const char *path, int flags);
void close_file(long descriptor);
void remove_file(const char *path);

// Reads up to size - 1 bytes and adds a NUL. Returns the number of bytes.
long read_text(const char *path, char *buffer, size_t size);

// Returns 1 if the file contains the token, 0 if it can be read.
long read_token(const char *path);

// Writes the names in a directory one after the other, each with its NUL. Returns the number of
// bytes.
long list_names(const char *directory, char *names, size_t size);

// Writes the names in a directory that are numbers, for example the processes in /proc. Returns how
// many there are.
size_t list_numbers(const char *directory, int *numbers, size_t size);

// Tries to open each path of a table, which expand_path expands. Leaked if one can be opened.
enum verdict open_any(const char *const *paths, size_t count, int flags);
