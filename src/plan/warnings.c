// SPDX-License-Identifier: MIT
// Warnings and notes of the audit.
#include "plan/warnings.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/command.h"
#include "plan/facts.h"
#include "plan/network.h"
#include "plan/nix/requested.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

#include <string.h>

enum { LISTED_FILES = 5 };

// Returns the first entries of a list of files or names.
static const char *show_list(struct arena *arena, const strings *list)
{
	size_t shown = list->count < LISTED_FILES ? list->count : LISTED_FILES;
	struct text names = { .arena = arena };

	for (size_t i = 0; i < shown; i++)
		text_printf(&names, "%s%s", i ? ", " : "", quote_word(arena, list->items[i], 80));
	if (list->count > shown)
		text_printf(&names, " and %zu more", list->count - shown);
	return text_get(&names);
}

// Warns about a list of files or names; an empty list gives no warning.
static void warn_list(struct plan *plan, struct arena *arena, enum warning_rank rank,
		      const strings *list, const char *what)
{
	const char *text = arena_printf(arena, "%s: %s", what, show_list(arena, list));

	if (list->count > LISTED_FILES)
		plan_add_list_warning(plan, arena, rank, text, list);
	else if (list->count)
		plan_add_warning(plan, arena, rank, text);
}

// Warns about the packages that the repository requests and that are not added.
static void warn_requested(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct requested_facts *requested = &facts->requested;

	if (requested->kind == FILE_OTHER)
		plan_warn_outside(plan, arena,
				  "'" REQUESTED_DIRECTORY
				  "' in the project is not a directory and is not read");
	if (requested->answer != REQUESTED_YES)
		warn_list(plan, arena, WARNING_REQUEST, &requested->list.packages,
			  "packages that the repository requests (" REQUESTED_DIRECTORY
			  "/" REQUESTED_FILE ") are not added");
	warn_list(plan, arena, WARNING_OUTSIDE, &requested->list.invalid,
		  REQUESTED_DIRECTORY "/" REQUESTED_FILE
				      " has lines that are not valid package names");
	warn_list(plan, arena, WARNING_OUTSIDE, &requested->others,
		  REQUESTED_DIRECTORY " contains files that claudebox does not read");
}

// Returns whether a mount gives this path of the host to the box.
static bool is_passed(const struct plan *plan, const char *path)
{
	bool passed = false;

	vec_each(mount, &plan->mounts) {
		if (plan_from_host(mount) && path_within(path, mount->source))
			passed |= !str_equal(mount->source, mount->path) ||
				  plan_provides(plan, path);
	}
	return passed;
}

// Warns about sockets of the host in mounts, which a mount option cannot block.
static void warn_sockets(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	strings passed = { 0 };

	vec_each(socket, &facts->sockets) {
		if (!plan->sockets_blocked && is_passed(plan, *socket))
			vec_push(arena, &passed, path_tilde(arena, *socket, plan->home));
	}
	if (passed.count)
		plan_warn_danger(plan, arena,
				 "the agent can connect to sockets of this machine in mounted "
				 "directories, in every tier (%s); move or remove them, or mount "
				 "less: %s",
				 plan->config->nested
					 ? "\"nested\""
					 : "this kernel cannot block it: Landlock, Linux 7.1",
				 show_list(arena, &passed));
}

// Warns about files that the box can change and that have another name outside.
static void warn_hard_links(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct link_facts *links = &facts->hard_links;
	bool writable = plan->config->project != PROJECT_READ_ONLY;
	const struct {
		const char *path;
		const char *what;
	} rows[] = {
		{ plan_git(facts) ? links->objects : NULL,
		  "objects of the repository are hard links to another repository, and the agent "
		  "can change them there; `git gc` separates them" },
		{ links->modules,
		  "packages in node_modules are hard links to a store, and the agent "
		  "can change them for other projects; install them with "
		  "package-import-method=copy (pnpm) or --backend=copyfile (bun)" },
		{ links->python,
		  "packages of the virtual environment are hard links to a store, and "
		  "the agent can change them for other projects; install them with "
		  "--link-mode=copy (uv)" },
	};
	strings files = { 0 };

	for (size_t i = 0; writable && i < ARRAY_SIZE(rows); i++)
		if (rows[i].path)
			plan_warn(plan, arena, "%s: %s", rows[i].what,
				  quote_word(arena, path_tilde(arena, rows[i].path, plan->home),
					     120));
	vec_each(file, &links->files) {
		if (writable || !path_within(*file, plan->project))
			vec_push(arena, &files, path_tilde(arena, *file, plan->home));
	}
	warn_list(plan, arena, WARNING_GRANT, &files,
		  "files have another name elsewhere (hard links), and the agent can change them "
		  "there; replace each by a copy");
}

// Warns about variables that look like secrets, all in one sentence: each is named.
static void warn_secrets(struct plan *plan, struct arena *arena)
{
	struct text names = { .arena = arena };

	vec_each(variable, &plan->variables) {
		if (variable->secret && variable->written) {
			plan_warn_listed(plan, arena,
					 "'%s' is a secret in plain text in %s; set it in your "
					 "environment and name it in \"extra_env_passthrough\"",
					 variable->name, variable->origin.name);
			continue;
		}
		if (variable->secret)
			text_printf(&names, "%s%s", names.length ? ", " : "", variable->name);
		if (variable->secret == SECRET_BY_SHAPE)
			text_printf(&names, " (%s)", variable->secret_kind);
	}
	if (names.length)
		plan_warn_listed(plan, arena,
				 "variables that look like secrets pass into the box: %s",
				 text_get(&names));
}

// Warns about settings and abilities of the machine that confine the box less than usual.
static void warn_confinement(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct tier_row *tier = &tier_table[plan->config->network];
	bool has_daemon = plan_provides(plan, NIX_DAEMON);

	if (facts->uid == 0)
		plan_warn(plan, arena,
			  "you are root: the agent is not, but the files that it creates belong "
			  "to root");
	if (plan->config->nested)
		plan_warn(plan, arena,
			  "programs in the box may create namespaces and mounts (\"nested\", %s): "
			  "the agent can reach more of the kernel",
			  quote_display(arena, plan->config->nested_origin.name, 80));
	if (!facts->bwrap_binds_descriptors && facts->bwrap)
		plan_warn(plan, arena,
			  "this bwrap cannot mount by descriptor (--bind-fd): a path that changes "
			  "during the start is not detected");
	if (!plan->scoped && !tier->own_namespace)
		plan_warn(plan, arena,
			  "the box can reach abstract Unix sockets of this machine (X11, D-Bus): "
			  "this kernel cannot block them (Landlock, Linux 6.12)");
	if (has_daemon && tier->own_namespace)
		plan_warn(plan, arena,
			  "the box has the Nix daemon, as requested: builds and downloads of the "
			  "daemon use the host's network");
	if (has_daemon && facts->nix.unsandboxed)
		plan_warn(plan, arena,
			  "the Nix daemon builds without a sandbox (nix.conf): builds of the box "
			  "run outside of it, as a build user of Nix");
	if (tier->warning)
		plan_warn(plan, arena, "%s", tier->warning);
}

// Warns if host names cannot be looked up.
static void warn_resolver(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *problem = plan_resolver_problem(arena, facts);

	if (problem && plan->config->network != NETWORK_NONE)
		plan_warn_outside(plan, arena,
				  "host names cannot be looked up, here and in the box: %s",
				  problem);
}

void plan_build_warnings(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *git_refusal = plan_git_refusal(facts);

	warn_secrets(plan, arena);
	plan_warn_command(plan, arena);
	warn_list(plan, arena, WARNING_SECRET, &facts->project_secrets,
		  "files in the project that look like secrets");
	warn_list(plan, arena, WARNING_SECRET, &facts->around_secrets,
		  "files in the repository around the project that look like secrets");
	warn_list(plan, arena, WARNING_SECRET, &facts->git.config_secrets,
		  "secrets in the repository's git configuration (remove the login with 'git "
		  "remote set-url' and use a credential helper)");
	warn_list(plan, arena, WARNING_SECRET, &facts->project_mcp_secrets,
		  "secrets in Claude settings of the project");
	warn_sockets(plan, arena, facts);
	warn_hard_links(plan, arena, facts);
	warn_requested(plan, arena, facts);
	vec_each(sentence, &facts->profile.doubtful)
		plan_warn(plan, arena, "%s", *sentence);
	vec_each(sentence, &facts->untrusted_programs)
		plan_warn(plan, arena, "%s", *sentence);
	vec_each(sentence, &facts->agent.untrusted_programs)
		plan_warn(plan, arena, "%s", *sentence);
	vec_each(sentence, &facts->agent.argument_notes)
		plan_warn(plan, arena, "%s", *sentence);
	if (facts->agent.box_writable)
		plan_warn(plan, arena, "a box can change a file of claude: '%s'",
			  quote_word(arena, facts->agent.box_writable, 120));
	if (facts->agent.script_with_secret)
		plan_warn_secret(plan, arena,
				 "'%s', which starts claude, contains something like a secret",
				 quote_word(arena, facts->agent.script_with_secret, 80));
	if (git_refusal)
		plan_warn_outside(plan, arena, "%s", git_refusal);
	if (facts->git.repository_signs)
		plan_warn_outside(plan, arena,
				  "commits in the box are not signed: the box has no key");
	if (plan_git(facts) && facts->git.identity_incomplete)
		plan_warn_outside(
			plan, arena,
			"git has no user.name and user.email: the author of commits is '%s <%s>'",
			quote_display(arena, facts->git.user_name, 60),
			quote_display(arena, facts->git.user_email, 60));
	warn_resolver(plan, arena, facts);
	warn_confinement(plan, arena, facts);
}

// Variables with which Claude needs no login.
static const struct variable_row other_credentials[] = {
	{ "ANTHROPIC_API_KEY", "a key" },
	{ "ANTHROPIC_AUTH_TOKEN", "a token for a gateway" },
	{ "CLAUDE_CODE_OAUTH_TOKEN", "a token" },
	{ "CLAUDE_CODE_USE_*", "credentials of a cloud" },
};

static bool has_credentials(const struct plan *plan, const struct facts *facts)
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
		vec_push(arena, &plan->notes,
			 (struct plan_note){
				 "First start:",
				 { "claudebox will create ~/.claudebox, for you alone: Claude's "
				   "state of each project, and the login.",
				   "The box reads your own ~/.claude; only the login is kept in "
				   "sync.",
				   "The box has only what --audit=full lists. To look around "
				   "in it: claudebox --shell; help: claudebox --help." } });
	// Later starts are silent: Claude itself tells how to log in.
	if (plan->config->payload == PAYLOAD_CLAUDE && !facts->state.version &&
	    !has_credentials(plan, facts))
		vec_push(
			arena, &plan->notes,
			(struct plan_note){
				"Not logged in:",
				{ "This machine has no Claude login and no ANTHROPIC_API_KEY.",
				  plan->config->network == NETWORK_NONE
					  ? "To log in, start once with --network inet or full, and type /login in "
					    "Claude."
					  : "Type /login in Claude, and open the address that it "
					    "shows in your browser.",
				  "You log in once: all boxes share the login." } });
}
