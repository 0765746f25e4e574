// SPDX-License-Identifier: MIT
// Facts about toolchains and the host's PATH, as data: collected by src/probe/toolchains.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/toolchains/managers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef VEC(struct followed) followed_files;

// A listed directory or file of a toolchain manager.
struct toolchain_part {
	struct followed file;   // `path` is below the real root
	bool split;             // only `entries` come along, because it has names of secrets
	followed_files entries; // of a directory that is split
	strings secrets;        // the names that stay outside
	strings untrusted;      // programs that stay outside, because other users can change them
	const char *problem;    // why it does not come along; NULL: it does
};

// A generated copy of settings.
struct toolchain_copy {
	const char *path; // on the host and in the box
	const char *text; // without secrets
	bool shortened;   // lines stay outside
};

// A directory tree of a manager.
struct toolchain_found {
	const struct manager_row *row;
	const char *root;    // no component before the last is a symbolic link
	const char *real;    // differs if the root itself is a link
	const char *problem; // why it does not come along; NULL: it does
	VEC(struct toolchain_part) parts;
	VEC(struct toolchain_copy) copies;
	bool truncated; // it has more parts than are mounted
};

// An entry of the host's PATH.
struct path_entry {
	const char *written;
	struct followed directory;
	const char *problem;        // of an entry that cannot be used: "is relative"; NULL: none
	uint64_t watched;           // the watched programs in it, as bits
	size_t programs;            // in it; counted only if the directory is not one of the system
	strings names;              // of the first few of them
	const char *root;           // the directory above, if its files belong to the programs
	VEC(struct link_hop) links; // of a toolchain's: programs that lead out of it, by name
};

// A program of ~/.local/bin.
struct local_program {
	const char *name;
	struct followed file;
	bool belongs;      // it is a program of a manager, or leads into a part of one
	const char *owner; // the manager whose own program it is; NULL: it leads into a part
};

// A python outside of the project that a virtual environment in it leads to.
struct project_python {
	struct followed file;
	const char *install; // its directory, if it lies in a root of the table; NULL: it does not
};

struct toolchains_facts {
	VEC(struct toolchain_found) found;
	VEC(struct path_entry) path;
	size_t path_ignored;   // entries after the last one that is used
	const char *local_bin; // ~/.local/bin, if it is on PATH; NULL: it is not
	VEC(struct local_program) local_programs;
	VEC(struct project_python) pythons;
};
