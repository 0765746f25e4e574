// SPDX-License-Identifier: MIT
// What runs in the box: claude, a shell, or the command of --exec.
#include "plan/plan.h"

#include "base/path.h"
#include "base/text.h"

// The user's Claude directory is another one in the box: what lies there is shown elsewhere.
static const char *agent_place(const struct plan *plan, struct arena *arena, const char *real)
{
	const char *covered = path_join(arena, plan->home, ".claude");

	return path_within(real, covered) ? arena_printf(arena, BOX_AGENT "%s", real) : real;
}

static bool add_agent_mounts(struct plan *plan, struct arena *arena, const struct host *host,
			     struct error *error)
{
	vec_each(need, &host->agent.needs) {
		const char *place = agent_place(plan, arena, need->real);

		if (plan_near_secret(host, need->real)) {
			error_hint(error, "install Claude Code elsewhere, or set CLAUDEBOX_CLAUDE");
			return error_set(error, "claude needs '%s', which is in a secret place",
					 quote_display(arena, need->real, 0));
		}
		if (str_equal(place, need->real))
			plan_add_followed(plan, arena, host, need, "claude");
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

bool plan_build_command(struct plan *plan, struct arena *arena, const struct config *config,
			const struct host *host, struct error *error)
{
	const struct agent_facts *agent = &host->agent;

	if (config->payload == PAYLOAD_CLAUDE && agent->problem) {
		error_hint(error, "%s", agent->hint);
		return error_set(error, "%s", agent->problem);
	}
	// A shell gets the very same box, claude included.
	if (!agent->problem && !add_agent_mounts(plan, arena, host, error))
		return false;
	switch (config->payload) {
	case PAYLOAD_CLAUDE:
		vec_each(word, &agent->command)
			vec_push(arena, &plan->command, agent_place(plan, arena, *word));
		vec_push(arena, &plan->command, "--dangerously-skip-permissions");
		break;
	case PAYLOAD_SHELL:
		vec_push(arena, &plan->command, host->shell ? host->shell : "/bin/sh");
		break;
	case PAYLOAD_EXEC:
		break;
	}
	vec_each(argument, &config->arguments)
		vec_push(arena, &plan->command, *argument);
	return true;
}
