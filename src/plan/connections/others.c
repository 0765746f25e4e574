// SPDX-License-Identifier: MIT
// The other variables of the user's environment, which stay outside: their number and their names.
#include "plan/connections/connections.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/names.h"
#include "plan/connections/tables.h"
#include "plan/plan.h"
#include "plan/registries/tools.h"
#include "plan/secrets/detect.h"

#include <string.h>

// Returns whether a user may miss this variable in the box. Other rows and warnings name some.
static bool is_counted(const struct connections *all, const char *name)
{
	return connection_open(all, name) && !connection_named(all, name) &&
	       !variable_row_find(unmissed_variables, unmissed_variable_count, name) &&
	       !variable_row_find(proxy_variables, proxy_variable_count, name) &&
	       !variable_row_find(registry_variables, registry_variable_count, name) &&
	       !secret_value(name);
}

void connections_leave_out_others(struct connections *all)
{
	strings names = { 0 };
	strings any = { 0 };

	vec_push(all->arena, &any, "NAME,...");
	vec_each(entry, &all->facts->environment) {
		const char *name = arena_strndup(all->arena, *entry, strcspn(*entry, "="));

		if (is_counted(all, name))
			vec_push(all->arena, &names, name);
	}
	if (!names.count)
		return;
	vec_push(all->arena, &all->plan->left_out,
		 (struct plan_left_out){
			 .kind = LEFT_OUT_MINOR,
			 .what = arena_printf(all->arena,
					      "%zu other variable%s of your environment",
					      names.count, names.count == 1 ? "" : "s"),
			 .why = "the box gets the variables of its list, and those that you name",
			 .option = connection_by_name(all, names.count == 1 ? &names : &any),
			 .names = names });
}
