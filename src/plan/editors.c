// SPDX-License-Identifier: MIT
// Removes EDITOR and VISUAL from the box if it lacks their program.
#include "plan/editors.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/claude/commands.h"
#include "plan/claude/variables.h"
#include "plan/facts.h"
#include "plan/plan.h"

static const char *const editors[] = { "EDITOR", "VISUAL" };

// Returns what the variable of the host runs as "NAME ARGUMENTS" or a path; NULL: nothing.
static const char *editor_program(struct arena *arena, const struct facts *facts, const char *name)
{
	const char *value = facts_variable(facts, name);

	return value ? str_next_word(arena, &value) : NULL;
}

void editors_add_words(struct arena *arena, const struct facts *facts, strings *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(editors); i++) {
		const char *program = editor_program(arena, facts, editors[i]);

		if (program)
			vec_push(arena, words, program);
	}
}

// Removes a variable that the host passes by itself. Returns false if the user named it.
static bool remove_variable(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->variables.count; i++) {
		struct plan_variable *variable = &plan->variables.items[i];

		if (!str_equal(variable->name, name))
			continue;
		if (variable->origin.kind != ORIGIN_ALLOWED ||
		    settings_variable_requested(plan->config, name))
			return false;
		plan->variables.count--;
		for (; i < plan->variables.count; i++)
			plan->variables.items[i] = plan->variables.items[i + 1];
		return true;
	}
	return false;
}

void plan_drop_missing_editors(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	for (size_t i = 0; i < ARRAY_SIZE(editors); i++) {
		const char *program = editor_program(arena, facts, editors[i]);
		struct command_lack lack;

		// A program that the host lacks as well is missing there too.
		if (program && command_on_host(facts, program) &&
		    !command_has_program(plan, arena, facts, program, &lack) &&
		    remove_variable(plan, editors[i]))
			plan_leave_out(plan, arena, editors[i], lack.why, lack.option);
	}
}
