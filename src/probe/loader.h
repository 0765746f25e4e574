// SPDX-License-Identifier: MIT
// Reads the dynamic loader that an ELF program requests (PT_INTERP).
#pragma once

#include "base/arena.h"

// Returns the path of the program's dynamic loader, or NULL when the program is static, is not a
// 64-bit ELF file or cannot be read.
const char *probe_loader(struct arena *arena, const char *path);
