// SPDX-License-Identifier: MIT
// What runs in the box: claude, a shell, or the command of --exec.
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

// The user's Claude directory is another one in the box: what lies there is shown elsewhere.
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
			error_hint(error, "install Claude Code elsewhere, or set CLAUDEBOX_CLAUDE");
			return error_set(error, "claude needs '%s', which is in a secret place",
					 quote_display(arena, need->real, 0));
		}
		if (str_equal(place, need->real))
			plan_add_followed(plan, arena, facts, need, "claude");
		else
			plan_add_mount(plan, arena,
				       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
							    .source = need->real,
							    .path = place,
							    .id = need->id,
							    .why = "claude" });
	}
	return true;
}

// claude takes one --settings; the value of the caller's own, which may be in the same word or in the next.
static const char *own_settings(const struct config *config, size_t *ret_at)
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

// In a box without user namespaces Claude's own sandbox would make each of its commands fail. What the command line says
// ranks above all settings of the user and of the project.
static void add_arguments(struct plan *plan, struct arena *arena, const struct config *config)
{
	bool off = config->payload == PAYLOAD_CLAUDE && !plan->user_namespaces;
	size_t at = 0;
	const char *own = off ? own_settings(config, &at) : NULL;
	const char *without = off ? settings_without_sandbox(arena, own) : NULL;

	if (without && !own) {
		vec_push(arena, &plan->command, "--settings");
		vec_push(arena, &plan->command, without);
	}
	if (off && own && !without)
		plan_warn(
			plan, arena,
			"Claude's own sandbox is not switched off, for '--settings' is yours: where it "
			"is on, Claude's commands fail in this box");
	for (size_t i = 0; i < config->arguments.count; i++) {
		const char *argument = config->arguments.items[i];

		if (own && without && i == at)
			argument = argument == own ? without
						   : arena_printf(arena, "--settings=%s", without);
		vec_push(arena, &plan->command, argument);
	}
}

bool plan_build_command(struct plan *plan, struct arena *arena, const struct config *config,
			const struct facts *facts, struct error *error)
{
	const struct agent_facts *agent = &facts->agent;

	if (config->payload == PAYLOAD_CLAUDE && agent->problem) {
		if (!agent->found && !agent->untrusted_programs.count)
			error_note(
				error,
				"claudebox starts the Claude Code that you have, and found none on "
				"PATH or where it is usually installed");
		error_hint(error, "%s", agent->hint);
		return error_set(error, "%s", agent->problem);
	}
	// A shell gets the very same box, claude included.
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
	add_arguments(plan, arena, config);
	return true;
}
