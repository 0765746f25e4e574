// SPDX-License-Identifier: MIT
// Which file system a path is on, in words that still mean something after a restart of the machine.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

// The file system that holds a path, and a mount point's own.
struct file_system probe_file_system(struct arena *arena, const char *path);
bool probe_is_mount_point(const char *path);
const char *probe_file_system_id(struct arena *arena, const char *path);
