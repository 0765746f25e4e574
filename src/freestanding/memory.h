// SPDX-License-Identifier: MIT
// Memory for programs without a C library.
#pragma once

#include <stddef.h>

// The compiler may emit calls to these two, even with -ffreestanding.
void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

// Maps readable and writable memory; `flags` and `file` are those of mmap(2). Returns NULL on
// failure.
void *map_memory(long size, int flags, long file);
