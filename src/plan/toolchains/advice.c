// SPDX-License-Identifier: MIT
// Rows about what the host has and the box lacks, and the options that bring it.
//
// Theory of operation: an option that a row names must work, and must not bring what the tables
// keep outside. So a manager that the profile excludes comes by the profile, an installation with
// settings in it comes by its listed parts, and a path whose mount would be refused has no option.
#include "plan/toolchains/advice.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"

const char *advice_path(const struct plan *plan, struct arena *arena, const char *path)
{
	return quote_word(arena, path_tilde(arena, path, plan->home), 120);
}

bool advice_requested(const struct facts *facts, const char *path)
{
	vec_each(mount, &facts->mounts) {
		if (path && path_within(path, mount->destination.path))
			return true;
	}
	return false;
}

bool advice_given(const struct plan *plan, const char *option)
{
	vec_each(row, &plan->left_out) {
		if (option && str_equal(row->option, option))
			return true;
	}
	return false;
}

// Returns whether a requested mount of this path would be refused.
static bool is_refused(const struct plan *plan, struct arena *arena, const struct facts *facts,
		       const char *path)
{
	return plan_near_secret(facts, path) || path_overlaps(path, facts->state.root) ||
	       path_overlaps(path, path_join(arena, plan->home, ".claude"));
}

const char *advice_mounts(const struct plan *plan, struct arena *arena, const struct facts *facts,
			  const strings *paths)
{
	struct text options = { .arena = arena };

	vec_each(path, paths) {
		if (is_refused(plan, arena, facts, *path))
			return NULL;
		text_printf(&options, "%s--mount-ro %s", options.length ? " " : "",
			    advice_path(plan, arena, *path));
	}
	return options.length ? text_get(&options) : NULL;
}

const char *advice_mount(const struct plan *plan, struct arena *arena, const struct facts *facts,
			 const char *path)
{
	strings paths = { 0 };

	vec_push(arena, &paths, path);
	return advice_mounts(plan, arena, facts, &paths);
}

// Returns the profile key with one more manager: "toolchains": ["nvm", "cargo"].
static const char *advise_manager(const struct plan *plan, struct arena *arena,
				  const struct manager_row *row)
{
	unsigned int wanted = config_toolchains(plan->config) | TOOLCHAIN_BIT(row->toolchain);
	struct text list = { .arena = arena };

	for (int i = 0; i < TOOLCHAIN_COUNT; i++)
		if (wanted & TOOLCHAIN_BIT(i))
			text_printf(&list, "%s\"%s\"", list.length ? ", " : "", toolchain_names[i]);
	return arena_printf(arena, "\"toolchains\": [%s]", text_get(&list));
}

const char *advice_install(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const struct install *install, const char *directory)
{
	if (install->row &&
	    !(config_toolchains(plan->config) & TOOLCHAIN_BIT(install->row->toolchain)))
		return advise_manager(plan, arena, install->row);
	if (!install->paths.count && directory && !is_refused(plan, arena, facts, directory))
		return arena_printf(arena, "--path %s", advice_path(plan, arena, directory));
	return advice_mounts(plan, arena, facts, &install->paths);
}
