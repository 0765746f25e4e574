// SPDX-License-Identifier: MIT
// What the user's --settings and --mcp-config name and the box lacks.
//
// Theory of operation: the files come along as they are, because the user named them. What they
// name is offered, like that of the user's own settings. A file that a box can write is one of the
// repository: the paths in it are listed (src/plan/claude/named_paths.c).
#include "plan/claude/argument_files.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/commands.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/mcp/account.h"
#include "plan/mcp/judge.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

enum { SHOWN = 60, MOST_SERVERS = 100 };

static void leave_out(struct plan *plan, struct arena *arena, const struct argument_text *argument,
		      enum left_out_kind rank, const char *kind, const char *name,
		      const struct command_lack *lack)
{
	const char *what =
		arena_printf(arena, "%s '%s' of --%s", kind,
			     secret_text(NULL, name) ? "..." : quote_display(arena, name, SHOWN),
			     argument->option);

	vec_each(row, &plan->left_out) {
		if (str_equal(row->what, what))
			return;
	}
	plan_leave_out_kind(plan, arena, rank, what, lack->why, lack->option);
}

static void examine_settings(struct plan *plan, struct arena *arena, const struct facts *facts,
			     const struct argument_text *argument)
{
	settings_commands commands = settings_list_commands(arena, argument->text);

	vec_each(command, &commands) {
		command_lacks lacks = { 0 };
		struct command_lack lack;

		command_find_lacks(plan, arena, facts, command->command, false, &lacks);
		lack = command_join_lacks(arena, &lacks);
		if (lacks.count)
			leave_out(plan, arena, argument, settings_command_kind(command->kind),
				  command->kind, command->command, &lack);
	}
}

static void examine_servers(struct plan *plan, struct arena *arena, const struct facts *facts,
			    const struct argument_text *argument)
{
	JSON_OWNED *file = json_read_object(argument->text, 0);
	struct command_lack lack;
	const char *name;
	json_t *server;
	size_t count = 0;

	json_object_foreach(account_user_servers(file), name, server)
		if (json_is_object(server) && count++ < MOST_SERVERS &&
		    !server_can_run(plan, arena, facts, server, &lack))
			leave_out(plan, arena, argument, LEFT_OUT_SERVER, "MCP server", name,
				  &lack);
}

void plan_leave_out_argument_files(struct plan *plan, struct arena *arena,
				   const struct facts *facts)
{
	if (plan->config->payload != PAYLOAD_CLAUDE)
		return;
	vec_each(argument, &facts->agent.argument_texts) {
		if (argument->of_box)
			continue;
		if (str_equal(argument->option, "settings"))
			examine_settings(plan, arena, facts, argument);
		else
			examine_servers(plan, arena, facts, argument);
	}
}
