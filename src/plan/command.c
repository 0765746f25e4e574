// SPDX-License-Identifier: MIT
// The command of the box: claude, a shell, or the command of --exec.
#include "plan/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"

// Returns the path of an agent file in the box. The box has a ~/.claude of its own, so files of the
// host's ~/.claude are mounted below BOX_AGENT.
static const char *agent_place(const struct plan *plan, struct arena *arena, const char *real)
{
	const char *covered = path_join(arena, plan->home, ".claude");

	return path_within(real, covered) ? arena_printf(arena, BOX_AGENT "%s", real) : real;
}

static bool add_agent_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
			     struct error *error)
{
	vec_each(need, &facts->agent.needs) {
		const char *place = agent_place(plan, arena, need->real);

		if (plan_near_secret(facts, need->real)) {
			error_set(error, "claude requires '%s', which is in a secret place",
				  quote_display(arena, need->real, 0));
			return error_hint(error, "install Claude Code in another directory, or set "
						 "CLAUDEBOX_CLAUDE");
		}
		if (str_equal(place, need->real))
			plan_add_followed(plan, arena, facts, need, PLAN_WHY_CLAUDE);
		else
			plan_add_mount(plan, arena,
				       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
							    .source = need->real,
							    .path = place,
							    .id = need->id,
							    .why = PLAN_WHY_CLAUDE });
	}
	return true;
}

// Returns the value of the caller's --settings and its index in the arguments; NULL: none. claude
// accepts one --settings only.
static const char *find_settings(const struct config *config, size_t *ret_at)
{
	const strings *arguments = &config->arguments;

	for (size_t i = 0; i < arguments->count && !str_equal(arguments->items[i], "--"); i++) {
		const char *value = str_after(arguments->items[i], "--settings=");

		*ret_at = i;
		if (value)
			return value;
		if (str_equal(arguments->items[i], "--settings") && i + 1 < arguments->count)
			return arguments->items[*ret_at = i + 1];
	}
	return NULL;
}

// Adds the arguments of the command, and for claude the setting that switches its own sandbox
// off. In a box without user namespaces that sandbox makes each command of Claude fail. The
// command line ranks above the settings of the user and of the project.
static void add_arguments(struct plan *plan, struct arena *arena)
{
	const struct config *config = plan->config;
	bool off = config->payload == PAYLOAD_CLAUDE && !config->nested;
	size_t at = 0;
	const char *own = off ? find_settings(config, &at) : NULL;
	const char *without = off ? settings_without_sandbox(arena, own) : NULL;

	if (without && !own) {
		vec_push(arena, &plan->command, "--settings");
		vec_push(arena, &plan->command, without);
	}
	if (off && own && !without)
		plan_warn(
			plan, arena,
			"Claude's own sandbox is not switched off, because '--settings' cannot be "
			"merged: if it is on, Claude's commands fail in this box");
	for (size_t i = 0; i < config->arguments.count; i++) {
		const char *argument = config->arguments.items[i];

		if (own && without && i == at)
			argument = argument == own ? without
						   : arena_printf(arena, "--settings=%s", without);
		vec_push(arena, &plan->command, argument);
	}
}

bool plan_build_command(struct plan *plan, struct arena *arena, const struct facts *facts,
			struct error *error)
{
	const struct config *config = plan->config;
	const struct agent_facts *agent = &facts->agent;

	if (config->payload == PAYLOAD_CLAUDE && agent->problem) {
		error_set(error, "%s", agent->problem);
		if (!agent->found && !agent->untrusted_programs.count)
			error_note(error,
				   "claudebox starts an installed Claude Code, and found none on "
				   "PATH or in its usual directories");
		return error_hint(error, "%s", agent->hint);
	}
	// A shell gets the same box, including claude.
	if (!agent->problem && !add_agent_mounts(plan, arena, facts, error))
		return false;
	switch (config->payload) {
	case PAYLOAD_CLAUDE:
		vec_each(word, &agent->command)
			vec_push(arena, &plan->command, agent_place(plan, arena, *word));
		vec_push(arena, &plan->command, "--dangerously-skip-permissions");
		break;
	case PAYLOAD_SHELL:
		vec_push(arena, &plan->command, facts->shell ? facts->shell : "/bin/sh");
		break;
	case PAYLOAD_EXEC:
		break;
	}
	add_arguments(plan, arena);
	return true;
}
