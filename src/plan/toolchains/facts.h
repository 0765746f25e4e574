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

// What a mount must bring of an installation that the box may lack.
struct install {
	const struct manager_row *row; // whose root it lies in; NULL: none
	strings paths;                 // the directory, or its parts if it has settings beside them
};

// A listed directory or file of a toolchain manager.
struct toolchain_part {
	struct followed file;   // `path` is below the real root
	bool split;             // only `entries` come along, because it has names of secrets
	followed_files entries; // of a directory that is split
	strings secrets;        // the names that stay outside
	strings untrusted;      // programs that stay outside, because other users can change them
	const char *problem;    // why it does not come along; NULL: it does
	const char *outside; // the directory or file outside of the root that it leads to; NULL: none
	struct install install; // of that
};

// A generated copy of settings.
struct toolchain_copy {
	const char *path;    // on the host and in the box
	const char *real;    // the file on the host, without symbolic links
	const char *text;    // without secrets; NULL: it is not used
	const char *problem; // why it is not used
	bool shortened;      // lines stay outside
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

// Links in one directory that lead out of it, and out of all toolchains and the system.
struct outward_links {
	const char *directory;
	VEC(struct link_hop) links; // absolute paths
	size_t more;                // further ones
};

// A variable that names the directory of a toolchain.
struct directory_variable {
	const char *name;
	const char *what; // "a Java installation"
	struct followed directory;
	struct install install;
};

// An entry of the host's PATH.
struct path_entry {
	const char *written;
	struct followed directory;
	const char *problem;    // of an entry that cannot be used: "is relative"; NULL: none
	uint64_t watched;       // the watched programs in it, as bits
	size_t programs;        // in it; counted only if the directory is not one of the system
	strings names;          // of the first few of them
	struct install install; // around it, if its files belong to the programs
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
	struct install install; // without paths: it lies in no root of the table
};

struct toolchains_facts {
	VEC(struct toolchain_found) found;
	VEC(struct path_entry) path;
	size_t path_ignored;   // entries after the last one that is used
	const char *local_bin; // ~/.local/bin, if it is on PATH; NULL: it is not
	VEC(struct local_program) local_programs;
	VEC(struct project_python) pythons;
	VEC(struct outward_links) links; // in directories that come along
	VEC(struct directory_variable) variables;
};
