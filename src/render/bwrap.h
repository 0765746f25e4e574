// SPDX-License-Identifier: MIT
// Renders the plan as bwrap options, in the order in which bwrap applies them.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "seccomp/programs.h"

enum bwrap_operand {
	OPERAND_TEXT,      // all arguments are literal
	OPERAND_DATA,      // the first argument is a descriptor with the mount's content
	OPERAND_PROGRAM,   // a link to a script; a launch has the program claudebox-git instead
	OPERAND_HOST_PATH, // the first argument is a host path, or a descriptor of it
	OPERAND_VARIABLE,  // the arguments are a variable's name and value
	OPERAND_SECCOMP,   // the argument is a descriptor with a seccomp filter
	OPERAND_NO_INIT,   // no argument; only for a box without claudebox's init
	OPERAND_HOME,      // the kept home: a host path, or for --dry-run an empty home
	OPERAND_IN_HOME,   // the launcher creates it in the kept home; only for --dry-run
};

// An option with its arguments. The launch and --dry-run use the same list.
struct bwrap_option {
	const char *mode; // for a --perms before the option, or NULL
	const char *flag;
	const char *by_descriptor; // flag if the host path is given as a descriptor
	const char *arguments[2];
	const char *staged; // replaces the last argument if the mount is moved afterwards, or NULL
	enum bwrap_operand operand;
	const struct plan_mount *mount;
	const struct plan_variable *variable;
	const struct seccomp_program *filter;
};
typedef VEC(struct bwrap_option) bwrap_options;

// Returns bwrap's options, without the command.
bwrap_options render_bwrap(const struct plan *plan, struct arena *arena);
