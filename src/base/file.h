// SPDX-License-Identifier: MIT
// Kind and identity of a file, and the symbolic links on the way to it.
#pragma once

#include "base/arena.h"

#include <sys/types.h>

// Identity of a file when it was probed, which box/inputs.c compares before the file is mounted.
// The type is part of it, because file systems reuse the inode number of a removed file.
struct file_id {
	dev_t device;
	ino_t inode;
	mode_t type; // the S_IFMT bits, 0: unknown
};

enum file_kind {
	FILE_MISSING,
	FILE_REGULAR,
	FILE_DIRECTORY,
	FILE_OTHER, // socket, device, FIFO
};

// One symbolic link on the way to a file.
struct link_hop {
	const char *link; // its path; no component before the last is a symbolic link
	const char *target;
};

// A path whose symbolic links are resolved, component by component.
struct followed {
	const char *path; // as given
	unsigned int key; // path_key() of it, 0: not computed
	VEC(struct link_hop) hops;
	const char *real; // without symbolic links; `path` if it cannot be resolved
	enum file_kind kind;
	struct file_id id;
};
