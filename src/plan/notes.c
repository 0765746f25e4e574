// SPDX-License-Identifier: MIT
// What is told to somebody who is here for the first time: no state yet, no sign-in yet.
#include "plan/plan.h"

#include "base/text.h"
#include "config/names.h"

#include <string.h>

// With one of these Claude needs no sign-in; a trailing '*': every one that starts so.
static const struct variable_row other_sign_ins[] = {
	{ "ANTHROPIC_API_KEY", "a key" },
	{ "ANTHROPIC_AUTH_TOKEN", "a token, for a gateway" },
	{ "CLAUDE_CODE_OAUTH_TOKEN", "a token" },
	{ "CLAUDE_CODE_USE_*", "a cloud's own sign-in" },
};

static bool signed_in(const struct plan *plan, const struct host *host)
{
	const char *settings = host->user_claude.settings_json;

	vec_each(variable, &plan->variables) {
		if (variable_row_find(other_sign_ins, ARRAY_SIZE(other_sign_ins), variable->name))
			return true;
	}
	return host->user_claude.has_credentials || host->state.signed_in ||
	       (settings && strstr(settings, "\"CLAUDE_CODE_USE_"));
}

void plan_build_notes(struct plan *plan, struct arena *arena, const struct host *host)
{
	if (host->state.root_kind == FILE_MISSING)
		vec_push(
			arena, &plan->notes,
			(struct plan_note){
				"First start:",
				{ "~/.claudebox will be made, for you alone: Claude's state of each "
				  "project, and the sign-in.",
				  "Your own ~/.claude comes along, to read; only its sign-in is kept "
				  "in step.",
				  "Above is all that the box gets. Look around in it with claudebox "
				  "--shell; help: claudebox --help." } });
	if (plan->payload == PAYLOAD_CLAUDE && !signed_in(plan, host))
		vec_push(arena, &plan->notes,
			 (struct plan_note){
				 "Not signed in:",
				 { "There is no Claude sign-in on this machine, and no "
				   "ANTHROPIC_API_KEY.",
				   plan->network == NETWORK_NONE
					   ? "Claude will ask you to log in, and can't without a "
					     "network: start once with --network inet."
					   : "Claude will ask you to log in: open the address that "
					     "it shows in your browser.",
				   "You do that once: the log-in is kept for all boxes." } });
}
