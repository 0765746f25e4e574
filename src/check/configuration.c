// SPDX-License-Identifier: MIT
// --check: the state directory, the project, the profile and toolchains.
#include "check/configuration.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "check/finding.h"
#include "config/config.h"
#include "config/toolchains.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "render/check.h"

#include <unistd.h>

struct finding check_state(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	struct error error = { .arena = arena };

	(void)config;
	if (!plan_refuse_state(facts, &error))
		return finding_broken(error.message, error.hint);
	if (facts->state.root_kind != FILE_MISSING)
		return finding_ok(arena_printf(
			arena, "%s, mode %03o%s", quote_display(arena, facts->state.root, 0),
			(unsigned int)facts->state.root_mode & 0777,
			facts->state.flat.found ? "; from an earlier claudebox: the next start "
						  "upgrades it and keeps a backup"
						: ""));
	if (access(facts->home, W_OK) < 0)
		return finding_broken("the home directory is not writable",
				      "check its owner and mode");
	return finding_ok("does not exist yet: the first start creates it");
}

struct finding check_project(struct arena *arena, const struct facts *facts,
			     const struct config *config)
{
	struct error error = { .arena = arena };

	(void)config;
	if (!plan_refuse_project(facts, &error))
		return finding_broken(error.message, error.hint);
	return finding_ok(quote_display(arena, facts->project, 0));
}

// Checks the profile together with the options of the command line, by building a plan.
struct finding check_profile(struct arena *arena, const struct facts *facts,
			     const struct config *config)
{
	const struct profile_facts *profile = &facts->profile;
	struct error error = { .arena = arena };
	struct config shell = *config;
	struct plan plan;

	if (profile->problem)
		return finding_broken(profile->problem, profile->fix);
	shell.payload = PAYLOAD_SHELL;
	// Errors of the project and the state have rows of their own.
	if (plan_refuse_project(facts, &error) && plan_refuse_state(facts, &error) &&
	    !plan_build(&plan, arena, &shell, facts, &error))
		return finding_broken(error.message, error.hint);
	if (profile->name && profile->directory)
		return finding_ok(arena_printf(arena, "%s, by directory %s", profile->name,
					       quote_word(arena, profile->directory, 0)));
	return finding_ok(profile->name ? profile->name : "none selected");
}

// Reports profiles that may be meant for this directory and cannot be read.
struct finding check_other_profiles(struct arena *arena, const struct facts *facts,
				    const struct config *config)
{
	struct text out = { .arena = arena };

	(void)config;
	vec_each(sentence, &facts->profile.doubtful)
		text_printf(&out, "%s%s", out.length ? ". " : "", *sentence);
	if (!out.length)
		return finding_ok("no unreadable one may be meant for this directory");
	return finding_broken(text_get(&out), "correct or remove the file");
}

// Lists the toolchains that a box gets, and the first one that it does not get.
struct finding check_toolchains(struct arena *arena, const struct facts *facts,
				const struct config *config)
{
	struct text names = { .arena = arena };
	unsigned int listed = 0;

	if (!config_toolchains(config))
		return finding_ok("none, as the profile says");
	vec_each(found, &facts->toolchains.found) {
		const char *name = toolchain_names[found->row->toolchain];

		if (found->problem)
			return finding_broken(
				arena_printf(arena, "%s in '%s' does not come along: %s", name,
					     quote_display(arena, found->root, 0), found->problem),
				"change the owner or the mode of that directory, or add its "
				"programs with --path DIR");
		if (!(listed & TOOLCHAIN_BIT(found->row->toolchain)))
			text_printf(&names, "%s%s", names.length ? ", " : "", name);
		listed |= TOOLCHAIN_BIT(found->row->toolchain);
	}
	return finding_ok(names.length ? text_get(&names)
				       : "none found: PATH leads to the system's programs only");
}
