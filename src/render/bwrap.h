// SPDX-License-Identifier: MIT
// The plan as bwrap options, in the order in which bwrap carries them out.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "seccomp/programs.h"

enum bwrap_operand {
	OPERAND_TEXT,      // all arguments as they stand
	OPERAND_DATA,      // the first argument is a descriptor with the mount's content
	OPERAND_HOST_PATH, // the first argument is a host path, or a descriptor of it
	OPERAND_VARIABLE,  // the variable's value follows its name
	OPERAND_SECCOMP,   // the argument is a descriptor with a program for the kernel
	OPERAND_NO_INIT,   // none; only for a box without our init, which does it better
};

// One option with its arguments; launch and --dry-run print the same list in their own ways.
struct bwrap_option {
	const char *mode; // for a --perms before it, or NULL
	const char *flag;
	const char *by_descriptor; // the flag to use when a descriptor stands for the host path
	const char *arguments[2];
	const char *
		staged; // instead of the last argument when the mount is moved there afterwards, or NULL
	enum bwrap_operand operand;
	const struct plan_mount *mount;
	const struct plan_variable *variable;
	const struct seccomp_program *filter;
};
typedef VEC(struct bwrap_option) bwrap_options;

bwrap_options render_bwrap(const struct plan *plan, struct arena *arena);
