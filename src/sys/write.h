// SPDX-License-Identifier: MIT
// Writes files in directories where a box may have planted anything: no link is followed, nothing is written in place.
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// Writes all of the bytes to fd. False with errno.
bool write_all(int fd, const void *bytes, size_t count);

// Sets the error "cannot DO 'path'" from errno, with a hint that fits it. Returns false.
bool write_fail(struct error *error, const char *what, const char *path);

// Opens a directory without following a link, and creates it with mode 0700 when it is missing; -1 with an error. `shown`
// is its name in messages.
int open_directory(int parent, const char *name, const char *shown, struct error *error);

// Renames the entry of that name to NAME.own, so that the name is free; a symbolic link is removed.
bool move_aside(int directory, const char *name, struct error *error);

// Puts a new file in place of the entry of that name, by rename.
bool replace_file(int directory, const char *name, const char *content, struct error *error);
