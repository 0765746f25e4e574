// SPDX-License-Identifier: MIT
// Asks which state a project gets whose directory was replaced by another one at the same path.
#include "state/replaced.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "sys/ask.h"

static const char *render_question(struct arena *arena, const struct facts *facts)
{
	const char *root = path_tilde(arena, plan_canonical_root(arena, facts), facts->home);

	return arena_printf(
		arena,
		"%s is not the directory that claudebox used at this path before "
		"(created %s). The conversations and settings of this path belong to "
		"the earlier directory.\n"
		"Start with a [n]ew, empty state and keep the earlier one aside, use the "
		"earlier state for this directory ([k]eep), or [a]bort? [N/k/a] ",
		quote_word(arena, root, 120), facts->state.earlier_born);
}

// Uses the earlier instance. The next start does not ask again if `identity` is the present one.
static void use_earlier(struct facts *facts, const struct directory_identity *identity)
{
	facts->state.kept_as = NULL;
	facts->state.identity = *identity;
}

bool resolve_replaced_state(const struct config *config, struct facts *facts, struct error *error)
{
	struct state_facts *state = &facts->state;
	const char *id = path_name(plan_instance_path(error->arena, facts));
	struct instance_record record;

	if (!state->kept_as)
		return true;
	if (config->action == ACTION_PROVE &&
	    instance_read_record(error->arena, id, state->record, &record)) {
		use_earlier(facts, &record.identity);
		return true;
	}
	if (config->action != ACTION_LAUNCH || config->yes || config->confirm == CONFIRM_NEVER)
		return true;
	switch (ask_letter(render_question(error->arena, facts), "nka", error->arena)) {
	case 'n':
		return true;
	case 'k':
		use_earlier(facts, &state->identity);
		return true;
	default:
		error_set(error, "not started");
		return error_hint(error, "answer n for a new state or k for the earlier one");
	}
}
