// SPDX-License-Identifier: MIT
// Files in memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Returns a new memfd, close-on-exec; -1 with errno. `executable`: it can be executed (Linux 6.3 and later must be told).
int memfd_open(const char *name, bool executable);

// Returns a new memfd that holds these bytes and is read from the start; -1 with errno.
int memfd_with(const char *name, const void *bytes, size_t size, bool executable);
int memfd_with_text(const char *name, const char *text);
