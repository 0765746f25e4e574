// SPDX-License-Identifier: MIT
// Variables and settings of toolchains.
#include "plan/toolchains/settings.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/origin.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "plan/toolchains/place.h"
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

// Returns the path in the box of the directory that a variable names; NULL: the box lacks it.
static const char *find_directory(const struct plan *plan, struct arena *arena,
				  const struct facts *facts, const struct followed *directory)
{
	const char *place = toolchain_place(plan, arena, facts, directory);

	// The same for all content of a project, which the box may create.
	if (path_within(directory->path, plan->project) || advice_requested(facts, directory->path))
		return directory->path;
	if (directory->kind != FILE_DIRECTORY || plan_near_secret(facts, directory->real))
		return NULL;
	if (place)
		return place;
	vec_each(mount, &facts->mounts) { // the parts of it
		if (path_within(mount->destination.path, directory->real))
			return directory->real;
	}
	return NULL;
}

// Adds the variables that name directories of toolchains, or names what they lack. One option may
// bring the directories of several.
static void add_directories(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(variable, &facts->toolchains.variables) {
		const struct followed *directory = &variable->directory;
		const char *place = find_directory(plan, arena, facts, directory);
		const char *option;

		if (plan_variable(plan, variable->name))
			continue;
		if (place) {
			vec_push(arena, &plan->variables,
				 (struct plan_variable){ .name = variable->name,
							 .value = place,
							 .origin = { .kind = ORIGIN_ALLOWED },
							 .why = variable->what });
			continue;
		}
		option = advice_install(plan, arena, facts, &variable->install, NULL);
		if (directory->kind == FILE_DIRECTORY && !advice_given(plan, option))
			plan_leave_out(plan, arena, advice_path(plan, arena, directory->path),
				       arena_printf(arena, "%s names it", variable->name), option);
	}
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
	add_directories(plan, arena, facts);
}
