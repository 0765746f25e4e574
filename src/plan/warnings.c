// SPDX-License-Identifier: MIT
// What the user should know before saying yes (SEC-01).
#include "plan/plan.h"

#include "base/path.h"
#include "base/text.h"
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
static void warn_wishes(struct plan *plan, struct arena *arena, const struct host *host)
{
	const struct wish_facts *wish = &host->wish;

	if (wish->kind == FILE_OTHER)
		plan_warn(plan, arena,
			  "'" WISH_DIRECTORY "' in the project is no directory and is not read");
	if (wish->answer != WISH_YES)
		warn_list(plan, arena, &wish->wishes.tools,
			  "the repository asks for tools (" WISH_DIRECTORY "/" WISH_FILE
			  "), and they are not added");
	warn_list(plan, arena, &wish->wishes.odd,
		  WISH_DIRECTORY "/" WISH_FILE " has lines that are no package's name");
	warn_list(plan, arena, &wish->others, WISH_DIRECTORY " holds what claudebox does not read");
}

void plan_build_warnings(struct plan *plan, struct arena *arena, const struct host *host)
{
	const char *git_refusal = plan_git_refusal(host);

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
	warn_list(plan, arena, &host->project_secrets,
		  "files in the project that look like secrets");
	warn_list(plan, arena, &host->project_mcp_secrets,
		  "secrets in Claude settings of the project");
	warn_wishes(plan, arena, host);
	vec_each(sentence, &host->passed_over)
		plan_warn(plan, arena, "%s", *sentence);
	vec_each(sentence, &host->agent.passed_over)
		plan_warn(plan, arena, "%s", *sentence);
	if (host->agent.in_reach)
		plan_warn(plan, arena, "claude is where a box can write: '%s'",
			  quote_word(arena, host->agent.in_reach, 120));
	if (host->agent.secret_in)
		plan_warn(plan, arena, "'%s', which starts claude, holds something like a secret",
			  quote_word(arena, host->agent.secret_in, 80));
	if (git_refusal)
		plan_warn(plan, arena, "%s", git_refusal);
	if (host->git.repository_signs)
		plan_warn(plan, arena, "commits made in the box are not signed: no key is there");
	if (plan_git(host) && host->git.identity_made_up)
		plan_warn(plan, arena,
			  "git knows no user.name and user.email: commits are by '%s <%s>'",
			  quote_word(arena, host->git.user_name, 60),
			  quote_word(arena, host->git.user_email, 60));
	if (host->uid == 0)
		plan_warn(plan, arena,
			  "you are root: the agent is not, but what it makes on disk is "
			  "root's");
	if (plan->user_namespaces)
		plan_warn(
			plan, arena,
			"programs in the box may make namespaces and mounts (\"nested\", %s): more "
			"of the kernel is within the agent's reach",
			quote_display(arena, plan->nested_by, 80));
	if (!host->bwrap_binds_descriptors && host->bwrap)
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
	if (plan_provides(plan, NIX_DAEMON) && host->nix.unsandboxed)
		plan_warn(plan, arena,
			  "the Nix daemon builds without a sandbox (nix.conf): what the box builds "
			  "runs outside of it, as a user of Nix's");
	if (tier_table[plan->network].warning)
		plan_warn(plan, arena, "%s", tier_table[plan->network].warning);
}
