// SPDX-License-Identifier: MIT
// Identifies the file system that a path is on, in a form that stays valid after a reboot.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

// Returns the identity of a directory. It is unknown on file systems without birth times, and on
// those that do not keep inode numbers or birth times.
struct directory_identity probe_directory_identity(const char *path);

// Returns whether each change of a file changes its time of change, on the file system of an open
// file.
bool probe_change_times_reliable(int fd);

// Returns the mount point of the file system that holds a path, and its id. The mount point is NULL
// when it is not known: on kernels before 5.8, and in a chroot.
struct file_system probe_file_system(struct arena *arena, const char *path);
// Returns whether the path is a mount point; a symbolic link at the path is not followed.
bool probe_is_mount_point(const char *path);
// Returns the id of the file system that holds a path, or NULL when it has no id that stays the
// same over a new mount.
const char *probe_file_system_id(struct arena *arena, const char *path);
