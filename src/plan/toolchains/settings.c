// SPDX-License-Identifier: MIT
// Variables and settings of toolchains.
#include "plan/toolchains/settings.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/origin.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "plan/toolchains/toolchains.h"

#include <string.h>

static void add_variable(struct plan *plan, struct arena *arena, const char *name,
			 const char *value, enum origin_kind kind, const char *toolchain)
{
	if (!plan_variable(plan, name))
		vec_push(arena, &plan->variables,
			 (struct plan_variable){
				 .name = name,
				 .value = value,
				 .origin = { .kind = kind },
				 .toolchain = toolchain,
				 .why = arena_printf(arena, "toolchain %s", toolchain) });
}

// Returns whether a variable names the root of a manager, or a path of the box.
static bool names_box_path(const struct plan *plan, struct arena *arena,
			   const struct toolchain_found *found, const char *value)
{
	const char *path = *value == '/' ? path_clean(arena, value) : "";

	return str_equal(path, found->root) || (*path && plan_provides(plan, path)) ||
	       (path_within(path, found->root) && toolchain_has_below(plan, path));
}

void plan_add_toolchain_variables(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(found, &facts->toolchains.found) {
		const char *name = toolchain_names[found->row->toolchain];

		if (found->problem)
			continue;
		for (const char *const *variable = found->row->variables; *variable; variable++) {
			const char *value = facts_variable(facts, *variable);

			if (value && names_box_path(plan, arena, found, value))
				add_variable(plan, arena, *variable, path_clean(arena, value),
					     ORIGIN_ALLOWED, name);
		}
		for (const struct manager_setting *setting = found->row->settings; setting->name;
		     setting++)
			add_variable(plan, arena, setting->name,
				     str_equal(setting->value, ".")
					     ? plan->project
					     : path_expand_home(arena, setting->value, plan->home),
				     ORIGIN_GENERATED, name);
	}
}
