// SPDX-License-Identifier: MIT
// What the user should know before saying yes (SEC-01).
#include "plan/warnings.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/facts.h"
#include "plan/nix/requested.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

#include <string.h>

enum { LISTED_FILES = 5 };

static void warn_list(struct plan *plan, struct arena *arena, const strings *list, const char *what)
{
	size_t shown = list->count < LISTED_FILES ? list->count : LISTED_FILES;
	struct text names = { .arena = arena };

	if (list->count == 0)
		return;
	for (size_t i = 0; i < shown; i++)
		text_printf(&names, "%s%s", i ? ", " : "", quote_word(arena, list->items[i], 80));
	if (list->count > shown)
		text_printf(&names, " and %zu more", list->count - shown);
	plan_warn(plan, arena, "%s: %s", what, text_get(&names));
}

// The repository's words: shown, and never more than that without a yes.
static void warn_wishes(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct requested_facts *requested = &facts->requested;

	if (requested->kind == FILE_OTHER)
		plan_warn(plan, arena,
			  "'" REQUESTED_DIRECTORY
			  "' in the project is no directory and is not read");
	if (requested->answer != REQUESTED_YES)
		warn_list(plan, arena, &requested->requested.tools,
			  "the repository asks for tools (" REQUESTED_DIRECTORY "/" REQUESTED_FILE
			  "), and they are not added");
	warn_list(plan, arena, &requested->requested.odd,
		  REQUESTED_DIRECTORY "/" REQUESTED_FILE " has lines that are no package's name");
	warn_list(plan, arena, &requested->others,
		  REQUESTED_DIRECTORY " holds what claudebox does not read");
}

void plan_build_warnings(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *git_refusal = plan_git_refusal(facts);

	vec_each(variable, &plan->variables) {
		if (!variable->secret)
			continue;
		if (strstr(variable->secret, "name"))
			plan_warn(plan, arena, "'%s' passes into the box: %s", variable->name,
				  variable->secret);
		else
			plan_warn(plan, arena, "'%s' passes into the box: it looks like %s",
				  variable->name, variable->secret);
	}
	warn_list(plan, arena, &facts->project_secrets,
		  "files in the project that look like secrets");
	warn_list(plan, arena, &facts->project_mcp_secrets,
		  "secrets in Claude settings of the project");
	warn_wishes(plan, arena, facts);
	vec_each(sentence, &facts->untrusted_programs)
		plan_warn(plan, arena, "%s", *sentence);
	vec_each(sentence, &facts->agent.untrusted_programs)
		plan_warn(plan, arena, "%s", *sentence);
	if (facts->agent.box_writable)
		plan_warn(plan, arena, "claude is where a box can write: '%s'",
			  quote_word(arena, facts->agent.box_writable, 120));
	if (facts->agent.script_with_secret)
		plan_warn(plan, arena, "'%s', which starts claude, holds something like a secret",
			  quote_word(arena, facts->agent.script_with_secret, 80));
	if (git_refusal)
		plan_warn(plan, arena, "%s", git_refusal);
	if (facts->git.repository_signs)
		plan_warn(plan, arena, "commits made in the box are not signed: no key is there");
	if (plan_git(facts) && facts->git.identity_incomplete)
		plan_warn(plan, arena,
			  "git knows no user.name and user.email: commits are by '%s <%s>'",
			  quote_word(arena, facts->git.user_name, 60),
			  quote_word(arena, facts->git.user_email, 60));
	if (facts->uid == 0)
		plan_warn(plan, arena,
			  "you are root: the agent is not, but what it makes on disk is "
			  "root's");
	if (plan->user_namespaces)
		plan_warn(
			plan, arena,
			"programs in the box may make namespaces and mounts (\"nested\", %s): more "
			"of the kernel is within the agent's reach",
			quote_display(arena, plan->nested_by, 80));
	if (!facts->bwrap_binds_descriptors && facts->bwrap)
		plan_warn(plan, arena,
			  "this bwrap cannot mount by descriptor (--bind-fd): a path that "
			  "changes during the start is not noticed");
	if (!plan->scoped && !tier_table[plan->network].own_namespace)
		plan_warn(
			plan, arena,
			"abstract Unix sockets of this machine (X11, D-Bus) are within reach: this "
			"kernel cannot close them (Landlock, Linux 6.12)");
	if (plan_provides(plan, NIX_DAEMON) && tier_table[plan->network].own_namespace)
		plan_warn(plan, arena,
			  "the Nix daemon is in the box, as asked for: what it builds and fetches "
			  "has the host's network");
	if (plan_provides(plan, NIX_DAEMON) && facts->nix.unsandboxed)
		plan_warn(plan, arena,
			  "the Nix daemon builds without a sandbox (nix.conf): what the box builds "
			  "runs outside of it, as a user of Nix's");
	if (tier_table[plan->network].warning)
		plan_warn(plan, arena, "%s", tier_table[plan->network].warning);
}

// With one of these Claude needs no sign-in; a trailing '*': every one that starts so.
static const struct variable_row other_credentials[] = {
	{ "ANTHROPIC_API_KEY", "a key" },
	{ "ANTHROPIC_AUTH_TOKEN", "a token, for a gateway" },
	{ "CLAUDE_CODE_OAUTH_TOKEN", "a token" },
	{ "CLAUDE_CODE_USE_*", "a cloud's own sign-in" },
};

static bool signed_in(const struct plan *plan, const struct facts *facts)
{
	const char *settings = facts->user_claude.settings_json;

	vec_each(variable, &plan->variables) {
		if (variable_row_find(other_credentials, ARRAY_SIZE(other_credentials),
				      variable->name))
			return true;
	}
	return facts->user_claude.has_credentials || facts->state.has_credentials ||
	       (settings && strstr(settings, "\"CLAUDE_CODE_USE_"));
}

void plan_build_first_start_notes(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (facts->state.root_kind == FILE_MISSING)
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
	if (plan->payload == PAYLOAD_CLAUDE && !signed_in(plan, facts))
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
