// SPDX-License-Identifier: MIT
// The table of toolchain managers. A further manager is one more row, and its name in
// config/toolchains.h.
#pragma once

#include "config/toolchains.h"

#include <stdbool.h>
#include <stddef.h>

// A variable that the box gets with this value, in which "~/" is the home directory and "." the
// project.
struct manager_setting {
	const char *name;
	const char *value;
};

// A directory tree of a manager. A manager with several trees has several rows, and all of them
// come along if one is recognised.
struct manager_row {
	enum toolchain toolchain;
	bool has_pythons; // it installs Python, so a virtual environment may lead to it
	// Where it is, the first that exists: "$VARIABLE", "~/name", "/name". A variable that is
	// set is a sign that the manager is in use, as is a PATH entry or a link in the root. XDG
	// variables are no sign. "/opt/*" is each directory there that a sign leads to.
	const char *roots[10];
	// A root is also each directory of the home with its "bin" on PATH and this directory in
	// it.
	const char *sibling;
	// What comes along, relative to the root. "*" in a name is any text, {a,b} are several
	// names, "!" are the program files in the directory, and "name!" is one of them.
	const char *parts[28];
	// Settings without secrets that the programs need, as generated copies: relative to the
	// root, or "~/name".
	const char *copies[4];
	// A part that comes as a generated copy: lines NAME=value, of which addresses with a login
	// or a path stay outside.
	const char *cleaned;
	const char *sections; // of such settings: the TOML tables that are copied; NULL: all lines
	const char *programs[4]; // the manager's own programs, as files in ~/.local/bin
	// Variables that are passed if they name a path of the box.
	const char *variables[8];
	struct manager_setting settings[3];
	const char *why; // why these parts, and what is beside them
};
extern const struct manager_row manager_table[];
extern const size_t manager_table_count;

// Programs whose version matters. If the box has another one than the host, the audit says so. At
// most 64 of them.
extern const char *const watched_programs[];
extern const size_t watched_program_count;
