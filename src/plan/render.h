// SPDX-License-Identifier: MIT
// What a plan looks like: as bwrap options, on the screen, as a shell script, as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

enum bwrap_operand {
	OPERAND_TEXT,      // all arguments as they stand
	OPERAND_DATA,      // the first argument is a descriptor with the mount's content
	OPERAND_HOST_PATH, // the first argument is a host path, or a descriptor of it
	OPERAND_VARIABLE,  // the variable's value follows its name
	OPERAND_FILTER,    // the argument is a descriptor with a program for the kernel
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
	const struct filter_program *filter;
};
typedef VEC(struct bwrap_option) bwrap_options;

bwrap_options render_bwrap(const struct plan *plan, struct arena *arena);

const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader);
// A script, and so the same for every reader.
const char *render_dry_run(const struct plan *plan, struct arena *arena);
const char *render_json(const struct plan *plan, struct arena *arena);

// Stands for a path that is known only once the box waits.
#define NETWORK_NAMESPACE_SHOWN "/proc/CHILD/ns/net"

// The tier inet: the command that carries packets, the rules, and their change when the host's network has changed.
strings render_pasta(const struct plan *plan, struct arena *arena, const char *network_namespace);
const char *render_nft(const struct plan *plan, struct arena *arena);
const char *render_nft_change(struct arena *arena, const plan_ranges *host);

// A secret's value for the eyes: its ends only, and nothing of a short one.
const char *render_masked(struct arena *arena, const char *value);

extern const char *const mount_kind_names[MOUNT_KIND_COUNT];
extern const char *const origin_marks[ORIGIN_COUNT];
