// SPDX-License-Identifier: MIT
// Mounts of the box, as /proc/self/mountinfo lists them.
#pragma once

#include "prove/attack/context.h"

#include <stdbool.h>
#include <stddef.h>

// Writes the path of mount number `index` of a file system type. Returns false if there are fewer.
bool find_mount(const char *type, size_t index, char path[PATH_SIZE]);
