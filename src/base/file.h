// SPDX-License-Identifier: MIT
// A file of the host as it was found: kind, identity, and the symbolic links that lead to it.
#pragma once

#include "base/arena.h"

#include <sys/types.h>

// What a path was when it was looked at; launch compares before it mounts.
struct file_id {
	dev_t device;
	ino_t inode;
};

enum file_kind {
	FILE_MISSING,
	FILE_REGULAR,
	FILE_DIRECTORY,
	FILE_OTHER, // socket, device, FIFO
};

// One symbolic link met on the way; the directory that holds it is a real path.
struct link_hop {
	const char *link;
	const char *target;
};

// A path followed through every symbolic link, component by component.
struct followed {
	const char *path;
	VEC(struct link_hop) hops;
	const char *real;
	enum file_kind kind;
	struct file_id id;
};
