// SPDX-License-Identifier: MIT
// --check: the table of checks.
#include "check/check.h"

#include "base/arena.h"
#include "base/error.h"
#include "check/configuration.h"
#include "check/finding.h"
#include "check/guard.h"
#include "check/network.h"
#include "check/nix.h"
#include "check/programs.h"
#include "check/system.h"
#include "check/tools.h"
#include "check/undo.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "render/check.h"
#include "sys/output.h"

#include <unistd.h>

static bool always(const struct config *config)
{
	(void)config;
	return true;
}

static bool never(const struct config *config)
{
	(void)config;
	return false;
}

static bool for_writable(const struct config *config)
{
	return config->project != PROJECT_READ_ONLY;
}

static bool for_inet(const struct config *config)
{
	return config->network == NETWORK_INET;
}

static bool for_packages(const struct config *config)
{
	return config->packages.count > 0;
}

#define EVERY_BOX "Every box"
#define MACHINE   "This machine"
#define INET      "Network inet"
#define NIX       "Nix"

static const struct check {
	const char *name;
	const char *group; // heading on a terminal
	bool (*required)(const struct config *config);
	check_function *run;
} checks[] = {
	{ "bwrap", EVERY_BOX, always, check_bwrap },
	{ "claude", EVERY_BOX, always, check_claude },
	{ "shell", EVERY_BOX, always, check_shell },
	{ "state", EVERY_BOX, always, check_state },
	{ "project", EVERY_BOX, always, check_project },
	{ "guard", EVERY_BOX, for_writable, check_guard },
	{ "profile", EVERY_BOX, always, check_profile },
	{ "profiles", MACHINE, never, check_other_profiles },
	{ "path", MACHINE, never, check_path },
	{ "toolchains", MACHINE, never, check_toolchains },
	{ "landlock", MACHINE, never, check_landlock },
	{ "git", MACHINE, never, check_git },
	{ "undo", MACHINE, never, check_undo },
	{ "tools", MACHINE, never, check_tools },
	{ "names", MACHINE, never, check_names },
	{ "pasta", INET, for_inet, check_pasta },
	{ "nft", INET, for_inet, check_nft },
	{ "inet", INET, for_inet, check_inet },
	{ "limits", MACHINE, limits_requested, check_limits },
	{ "nix", NIX, for_packages, check_nix },
	{ "packages", NIX, for_packages, check_packages },
	{ "terminal", MACHINE, never, check_terminal },
};

// Builds the plan of the box that would start here, or, where claude is missing, that of a shell.
static struct check_plan find_plan(struct arena *arena, const struct facts *facts,
				   struct config *config)
{
	struct plan *plan = arena_alloc(arena, sizeof(*plan));
	struct error error = { .arena = arena };

	if (facts->profile.problem)
		return (struct check_plan){ .problem = facts->profile.problem };
	if (plan_build(plan, arena, config, facts, &error))
		return (struct check_plan){ .plan = plan };
	config->payload = PAYLOAD_SHELL;
	if (plan_build(plan, arena, config, facts, &error))
		return (struct check_plan){ .plan = plan };
	return (struct check_plan){ .problem = error.message };
}

bool check_command(const struct config *config, const struct facts *facts, struct arena *arena,
		   int *ret_status, struct error *error)
{
	finding_rows rows = { 0 };
	struct config launched = *config;
	struct check_plan plan;

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		vec_push(arena, &rows,
			 (struct finding_row){ .name = checks[i].name,
					       .group = checks[i].group,
					       .required = checks[i].required(config),
					       .found = checks[i].run(arena, facts, config) });
	plan = find_plan(arena, facts, &launched);
	*ret_status = findings_to_fix(&rows) ? EXIT_CHECK_FAILED : 0;
	return output_print(STDOUT_FILENO,
			    config->output == OUTPUT_JSON
				    ? render_check_json(arena, &rows, &plan)
				    : render_check(arena, &rows, &plan,
						   output_reader(STDOUT_FILENO)),
			    error);
}
