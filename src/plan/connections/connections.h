// SPDX-License-Identifier: MIT
// How programs of the box reach the network as outside: proxies, certificates, the API of Claude,
// clouds.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the variables of connections. Requested variables and mounts are already in the plan.
void plan_build_connections(struct plan *plan, struct arena *arena, const struct facts *facts);

// The state of plan_build_connections(), for the files of this directory.
struct connections {
	struct plan *plan;
	struct arena *arena;
	const struct facts *facts;
	strings named; // variables that a row of plan->left_out names
};

// Returns whether the box may get a host variable: the name is valid, not reserved, not set yet.
bool connection_open(const struct connections *all, const char *name);
// Pass a host variable, and set one of claudebox's own.
void connection_pass(struct connections *all, const char *name, const char *value, const char *why);
void connection_generate(struct connections *all, const char *name, const char *value,
			 const char *why);
// Adds a row for variables that stay outside; an empty list adds none. `what` is a noun that the
// names follow, or NULL. `option`: NULL, CLAUDEBOX_EXTRA_ENV with the names.
void connection_leave_out(struct connections *all, const strings *names, const char *what,
			  const char *why, const char *option);
// Returns whether a row of what stays outside names a variable.
bool connection_named(const struct connections *all, const char *name);
// Returns the option that passes variables by name.
const char *connection_by_name(const struct connections *all, const strings *names);

// The parts.
void connections_add_proxies(struct connections *all);
void connections_add_api(struct connections *all);
void connections_add_clouds(struct connections *all);
void connections_leave_out_others(struct connections *all);
