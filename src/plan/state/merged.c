// SPDX-License-Identifier: MIT
// Plans the instance's files that are merged with the user's: settings.json and .claude.json.
//
// Theory of operation: all boxes of an instance, also those of other worktrees, share these files,
// and a running Claude reads them again. What one box lacks (an API key, the program of a server)
// must not leave the file while another box uses it. So each file is planned twice: for a start
// without another box, and for one beside another box, which only adds. In the second case the base
// of the merge only grows too, so that the next start without another box removes the rest.
#include "plan/state/merged.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/first_run.h"
#include "plan/claude/merge.h"
#include "plan/claude/recorded.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/mcp/account.h"
#include "plan/mcp/servers.h"
#include "plan/plan.h"
#include "plan/state/instances.h"

#include <string.h>

enum { LISTED_STAYING = 10 };

// Plans the replacement of a file. A file that is not a JSON object, or that was not read, is kept
// under another name; no box can use it.
static void add_file(struct plan *plan, struct arena *arena, struct plan_file file, bool unread)
{
	if (unread || (file.based_on && !settings_valid(file.based_on))) {
		file.keep_as = arena_printf(arena, "%s.broken", file.name);
		file.beside = file.alone;
	}
	if (file.alone.content || file.alone.base || file.beside.content || file.beside.base)
		vec_push(arena, &plan->state.files, file);
}

// Returns the file's text after a start of this kind, NULL: there is none.
static const char *text_after(const struct plan_file *file, const struct plan_merged *merged)
{
	return merged->content ? merged->content : file->based_on;
}

static struct plan_file merge_settings(struct plan *plan, struct arena *arena,
				       const struct facts *facts)
{
	const struct state_facts *state = &facts->state;
	struct plan_file file = { .name = "settings.json",
				  .base_name = INSTANCE_SETTINGS_BASE,
				  .based_on = state->settings_json };
	struct plan_merged *const merged[] = {
		[MERGE_ALL] = &file.alone, [MERGE_ADDED] = &file.beside
	};
	strings notes = { 0 };
	const char *filtered = settings_filter(plan, arena, facts, &notes);

	vec_each(note, &notes)
		plan_warn_outside(plan, arena, "%s", *note);
	// Host settings that cannot be parsed count as unchanged. Missing ones count as empty.
	if (!filtered && state->settings_base)
		filtered = facts->user_claude.settings_json ? state->settings_base : "{}\n";
	recorded_add_settings(plan, arena, filtered);
	for (enum merge_mode mode = MERGE_ALL; mode <= MERGE_ADDED; mode++) {
		merged[mode]->content = settings_merge(arena, mode, state->settings_base, filtered,
						       state->settings_json);
		merged[mode]->base =
			settings_next_base(arena, mode, state->settings_base, filtered);
	}
	return file;
}

// Returns the user's part of the instance's .claude.json, which is recorded as the base of the next
// start. A file that is not valid counts as unchanged, a missing one as empty.
static const char *filter_account(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *base = facts->state.account_base;
	const char *obstacle = facts->user_claude.account_obstacle;
	const char *filtered = servers_filter(plan, arena, facts);

	if (facts->user_claude.account_json && !filtered)
		plan_warn_outside(
			plan, arena,
			"the host's .claude.json %s: its preferences and MCP servers are ignored",
			obstacle ? obstacle : "is not valid JSON");
	if (!filtered && base)
		filtered = facts->user_claude.account_json ? base : "{}\n";
	return filtered;
}

static struct plan_file merge_account(struct plan *plan, struct arena *arena,
				      const struct facts *facts)
{
	const struct state_facts *state = &facts->state;
	const char *root = plan->state.canonical_root;
	struct plan_file file = { .name = ".claude.json",
				  .base_name = INSTANCE_ACCOUNT_BASE,
				  .based_on = state->instance_json };
	struct plan_merged *const merged[] = {
		[MERGE_ALL] = &file.alone, [MERGE_ADDED] = &file.beside
	};
	const char *filtered = filter_account(plan, arena, facts);
	const struct account_texts texts = { .base = state->account_base,
					     .host = facts->user_claude.account_json,
					     .box = state->instance_json };

	for (enum merge_mode mode = MERGE_ALL; mode <= MERGE_ADDED; mode++) {
		const struct first_run_account user = {
			.base = texts.base, .host = filtered, .root = root, .mode = mode
		};
		const char *base = account_next_base(arena, mode, filtered, &texts, root);

		merged[mode]->content = first_run_render(arena, texts.box, &user, facts->project,
							 facts_variable(facts, "ANTHROPIC_API_KEY"),
							 plan->config->payload == PAYLOAD_CLAUDE);
		merged[mode]->base = str_equal(base, texts.base) ? NULL : base;
	}
	return file;
}

// Removes the rows of servers that a box has removed, and names them.
static void drop_removed_servers(struct plan *plan, struct arena *arena)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->servers.count; i++) {
		const struct plan_server *server = &plan->servers.items[i];
		const char *name = account_server_name(arena, server->name, server->local);
		bool found = false;

		vec_each(known, &plan->state.server_names)
			found |= str_equal(*known, name);
		if (found)
			plan->servers.items[kept++] = *server;
		else
			plan_leave_out(plan, arena,
				       arena_printf(arena, "MCP server '%s'", server->name),
				       "removed in a box; `claude mcp add` in a box brings it back",
				       NULL);
	}
	plan->servers.count = kept;
}

// Lists the servers that a box has added.
static void list_box_servers(struct plan *plan, struct arena *arena)
{
	vec_each(name, &plan->state.server_names) {
		bool found = false;

		vec_each(server, &plan->servers)
			found |= str_equal(*name,
					   account_server_name(arena, server->name, server->local));
		if (!found)
			vec_push(arena, &plan->box_servers, strchr(*name, ' ') + 1);
	}
}

// Adds the members that another box keeps in an object: removed or changed without it.
static void add_staying(struct arena *arena, strings *list, const char *kind, const json_t *beside,
			const json_t *alone)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)beside, name, value) {
		const json_t *other = json_object_get(alone, name);

		if (!other || !json_equal(value, other))
			vec_push(arena, list,
				 arena_printf(arena, "%s '%s'", kind,
					      quote_display(arena, name, 60)));
	}
}

// Names what stays in the files only because another box uses them.
static void warn_staying(struct plan *plan, struct arena *arena, const struct plan_file *settings,
			 const struct plan_file *account)
{
	const char *root = plan->state.canonical_root;
	JSON_OWNED *old = json_read_object(text_after(settings, &settings->beside), 0);
	JSON_OWNED *new = json_read_object(text_after(settings, &settings->alone), 0);
	JSON_OWNED *beside = json_read_object(text_after(account, &account->beside), 0);
	JSON_OWNED *alone = json_read_object(text_after(account, &account->alone), 0);
	struct text shown = { .arena = arena };
	strings list = { 0 };
	size_t count = 0;

	add_staying(arena, &list, "MCP server", account_user_servers(beside),
		    account_user_servers(alone));
	add_staying(arena, &list, "MCP server", account_local_servers(beside, root),
		    account_local_servers(alone, root));
	add_staying(arena, &list, "setting", old, new);
	vec_each(item, &list) {
		if (count++ < LISTED_STAYING)
			text_printf(&shown, "%s%s", count > 1 ? ", " : "", *item);
	}
	if (count > LISTED_STAYING)
		text_printf(&shown, " and %zu more", count - LISTED_STAYING);
	if (count)
		plan_warn_outside(
			plan, arena,
			"another box of this project runs and has the same ~/.claude. Until "
			"a start without another box, this stays there as it is, also if "
			"it cannot work in this box: %s",
			text_get(&shown));
}

void plan_build_claude_configuration(struct plan *plan, struct arena *arena,
				     const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const char *api_key = facts_variable(facts, "ANTHROPIC_API_KEY");
	struct plan_file settings = merge_settings(plan, arena, facts);
	struct plan_file account = merge_account(plan, arena, facts);
	JSON_OWNED *reduced = NULL;

	state->beside = facts->state.in_use;
	reduced = json_read_object(account_reduce(arena,
						  text_after(&account, state->beside
									       ? &account.beside
									       : &account.alone),
						  state->canonical_root),
				   0);
	state->server_names = account_server_names(arena, reduced, state->canonical_root);
	drop_removed_servers(plan, arena);
	list_box_servers(plan, arena);
	if (plan->config->payload == PAYLOAD_CLAUDE && api_key && *api_key &&
	    !first_run_approves(api_key))
		plan_warn_outside(
			plan, arena,
			"ANTHROPIC_API_KEY is short, so its end is not stored as approved: Claude "
			"asks whether to use it");
	if (state->beside)
		warn_staying(plan, arena, &settings, &account);
	add_file(plan, arena, settings, facts->state.settings_unread);
	add_file(plan, arena, account, facts->state.instance_json_unread);
}
