// SPDX-License-Identifier: MIT
// Creates and reads files in memory.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Creates an empty memfd, close-on-exec. `executable` requests one that can be executed, which
// Linux 6.3 and later may otherwise deny. Returns -1 with errno on failure.
int memfd_open(const char *name, bool executable);

// Creates a memfd with this content, positioned at its start. Returns -1 with errno on failure.
int memfd_with(const char *name, const void *bytes, size_t size, bool executable);
// The same for text, not executable.
int memfd_with_text(const char *name, const char *text);

// Returns the content of a memfd, from its start; NULL if it is longer than `limit` or cannot be
// read.
const char *memfd_read(struct arena *arena, int fd, size_t limit);
