// SPDX-License-Identifier: MIT
// The command of the box: claude, a shell, or the command of --exec.
#include "plan/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "plan/claude/arguments.h"
#include "plan/facts.h"
#include "plan/mcp/secrets.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/secrets/detect.h"
#include "plan/tables.h"

#include <string.h>

#define NO_QUESTIONS "--dangerously-skip-permissions"

enum { SHOWN_OPTION = 40 };

const char *plan_agent_place(const struct plan *plan, struct arena *arena, const char *real)
{
	const char *covered = path_join(arena, plan->home, ".claude");

	return path_within(real, covered) ? arena_printf(arena, BOX_AGENT "%s", real) : real;
}

static bool add_agent_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
			     struct error *error)
{
	vec_each(need, &facts->agent.needs) {
		const char *place = plan_agent_place(plan, arena, need->real);

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

const char *plan_command_directory(struct arena *arena, const struct facts *facts)
{
	const strings *command = &facts->agent.command;
	const char *program = command->count == 1 ? command->items[0] : "";

	if (facts->agent.problem || !command->count)
		return NULL;
	// PATH of a box of the store names directories of the store.
	return path_within(program, NIX_STORE) && str_equal(path_name(program), "claude")
		       ? path_parent(arena, program)
		       : BOX_COMMAND;
}

// Adds a script that starts claude to PATH. claude can have any name and place on the host. If it
// is a wrapper that executes `claude` by name, the script would execute it again and again, in the
// same process.
static void add_script(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct text script = { .arena = arena };
	bool has_newline = false;

	if (!str_equal(plan_command_directory(arena, facts), BOX_COMMAND))
		return;
	text_add(&script, "#!/bin/sh\n"
			  "if [ \"$CLAUDEBOX_COMMAND\" = $$ ]; then\n"
			  "\techo 'claude: its wrapper executes claude by name, which is the "
			  "wrapper' >&2\n"
			  "\texit 127\n"
			  "fi\n"
			  "CLAUDEBOX_COMMAND=$$ exec");
	vec_each(word, &facts->agent.command)
		text_printf(&script, " %s",
			    quote_shell(arena, plan_agent_place(plan, arena, *word), &has_newline));
	text_add(&script, " \"$@\"\n");
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = has_newline ? "#!/bin/sh\nexit 127\n"
								  : text_get(&script),
					    .path = BOX_COMMAND "/claude",
					    .mode = 0555,
					    .why = "claude on PATH" });
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
	add_script(plan, arena, facts);
	switch (config->payload) {
	case PAYLOAD_CLAUDE:
		vec_each(word, &agent->command)
			vec_push(arena, &plan->command, plan_agent_place(plan, arena, *word));
		if (!claude_words_are_first(&config->arguments))
			vec_push(arena, &plan->command, NO_QUESTIONS);
		break;
	case PAYLOAD_SHELL:
		vec_push(arena, &plan->command, facts->shell ? facts->shell : "/bin/sh");
		break;
	case PAYLOAD_EXEC:
		break;
	}
	plan_add_arguments(plan, arena, facts);
	return true;
}

bool command_word_is_secret(const char *before, const char *word)
{
	return secret_text(NULL, word) || server_argument_is_secret(before, word);
}

const char *command_describe_word(struct arena *arena, const char *const *words, size_t number)
{
	const char *word = words[number];
	const char *before = number ? words[number - 1] : "";
	const char *option = before;

	if (word[0] == '-' && strchr(word, '='))
		option = arena_strndup(arena, word, strcspn(word, "="));
	if (option[0] != '-' || str_equal(option, NO_QUESTIONS) || secret_text(NULL, option))
		return arena_printf(arena, "word %zu", number + 1);
	return quote_word(arena, option, SHOWN_OPTION);
}

void plan_warn_command(struct plan *plan, struct arena *arena)
{
	const strings *words = &plan->config->arguments;
	struct text names = { .arena = arena };

	for (size_t i = 0; i < words->count; i++)
		if (command_word_is_secret(i ? words->items[i - 1] : NULL, words->items[i]))
			text_printf(&names, "%s%s", names.length ? ", " : "",
				    command_describe_word(arena, words->items, i));
	if (names.length)
		plan_warn_secret(plan, arena,
				 "the arguments contain something like a secret, and the agent can "
				 "read it: %s",
				 text_get(&names));
}
