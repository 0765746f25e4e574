// SPDX-License-Identifier: MIT
// The list of canaries: where --prove plants them, which of them the user has granted to the box,
// and the text that the attack program reads.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "prove/protocol.h"

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_DIGITS = 32, MARK_DIGITS = 12 };

// group, value and extra are the fields of the protocol, in this order; NULL fields are left out.
struct canary {
	enum canary_kind kind;
	const char *group;
	const char *value;
	const char *extra;
	const char *
		granted; // the origin of the grant, NULL: none; with one it is neither planted nor attacked
	const char *harm; // the change that the host observed after the attacks, NULL if none
	bool secret;      // of a file: if it cannot be planted, its directory becomes CANARY_ABSENT
};
typedef VEC(struct canary) canaries;

// Returns the files, sockets and paths to attack, all with the name `mark`, and the limits.
canaries prove_places(struct arena *arena, const struct plan *plan, const struct facts *facts,
		      const char *mark);

// Returns the directory of an instance that --prove creates, with a home to attack.
const char *prove_other_instance(struct arena *arena, const struct plan *plan, const char *mark);
// Gives the box a kept home of its own, so that the attacks leave nothing in the project's.
void prove_change_home(struct plan *plan, struct arena *arena, const char *mark);

// Marks the variables that the plan passes as granted, and removes the token from their values.
void prove_grant_variables(struct arena *arena, struct plan *plan, canaries *list);

// Adds the ports that the plan opens in either direction, as granted. A canary whose port happens
// to be one of them becomes granted too.
void prove_grant_ports(struct arena *arena, const struct plan *plan, canaries *list);

// Returns the list as the attack program reads it.
const char *prove_render_canaries(struct arena *arena, const canaries *list);

// Adds the attack program and the list to the plan's mounts, and makes the program the command.
void prove_change_plan(struct plan *plan, struct arena *arena, const void *program,
		       size_t program_size, const char *canary_text);
