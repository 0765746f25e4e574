// SPDX-License-Identifier: MIT
// Decides which of the user's MCP servers the box gets.
//
// Theory of operation: a server comes along whole or not at all, because Claude starts a server
// without its key as well, and each of its tools then fails. Only members that are known to be
// harmless are copied. They go into the instance's .claude.json, merged with the box's own servers,
// and not into a file for --mcp-config: so `claude mcp list`, `get` and `remove` work in the box,
// --strict-mcp-config and the user's own --mcp-config mean what they mean outside, and a shell in
// the box (--shell, --exec) has the same servers. A managed-mcp.json would exclude all others.
#include "plan/mcp/servers.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/approved_lines.h"
#include "plan/claude/commands.h"
#include "plan/facts.h"
#include "plan/mcp/account.h"
#include "plan/mcp/judge.h"
#include "plan/mcp/references.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { MOST_SERVERS = 100, LONGEST_NAME = 64 };

// Returns whether a name can be shown and is no secret.
static bool is_name(struct arena *arena, const char *name)
{
	return *name && strlen(name) <= LONGEST_NAME && !secret_value(name) &&
	       str_equal(quote_display(arena, name, 0), name);
}

static bool list_has(json_t *list, const char *name)
{
	json_t *value;
	size_t i;

	json_array_foreach(list, i, value)
		if (str_equal(json_string_value(value), name))
			return true;
	return false;
}

static const char *look_up_on_host(const void *facts, const char *name)
{
	return facts_variable(facts, name);
}

// Returns the digest of a server's definition. The order of its members does not count.
static const char *digest_definition(struct arena *arena, const json_t *server)
{
	return approval_digest(arena, json_write(arena, server, JSON_COMPACT | JSON_SORT_KEYS));
}

// Judges a list of servers. Returns a new list of those that come along.
static json_t *filter_list(struct plan *plan, struct arena *arena, const struct facts *facts,
			   json_t *servers, json_t *disabled, bool local)
{
	json_t *passed = json_object();
	const char *name;
	json_t *server;
	size_t count = 0;

	// With the company's list, Claude uses no other, also outside.
	if (facts_file(facts, BOX_POLICY "/managed-mcp.json"))
		servers = NULL;
	if (servers && !json_is_object(servers))
		plan_leave_out_kind(plan, arena, LEFT_OUT_SERVER, "your MCP servers",
				    "the list in .claude.json cannot be read", NULL);
	json_object_foreach(servers, name, server) {
		struct command_lack lack = { .why = "its name is not valid" };
		const char *shown =
			arena_printf(arena, "MCP server '%s'",
				     secret_value(name) ? "..." : quote_display(arena, name, 60));
		JSON_OWNED *copy = NULL;

		if (list_has(disabled, name))
			continue; // by the user, for this project
		if (count++ == MOST_SERVERS) {
			plan_leave_out_kind(plan, arena, LEFT_OUT_SERVER, "more MCP servers",
					    "there are too many", NULL);
			break;
		}
		if (is_name(arena, name))
			copy = server_judge(plan, arena, facts, server, &lack);
		if (!copy) {
			plan_leave_out_kind(plan, arena, LEFT_OUT_SERVER, shown, lack.why,
					    lack.option);
			continue;
		}
		json_object_set(passed, name, copy);
		vec_push(arena, &plan->servers,
			 (struct plan_server){ .name = arena_strdup(arena, name),
					       .local = local,
					       .by_address = json_object_get(copy, "url"),
					       .digest = digest_definition(arena, copy) });
	}
	return passed;
}

const char *servers_filter(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *root = plan->state.canonical_root;
	JSON_OWNED *account = json_read_object(facts->user_claude.account_json, 0);
	json_t *projects = json_object_get(account, "projects");
	json_t *disabled = json_object_get(json_object_get(projects, root), "disabledMcpServers");
	json_t *user;
	json_t *local;

	if (!account)
		return NULL;
	user = filter_list(plan, arena, facts, account_user_servers(account), disabled, false);
	local = filter_list(plan, arena, facts, account_local_servers(account, root), disabled,
			    true);
	json_object_set_new(account, "mcpServers", user);
	if (projects)
		json_object_set_new(account, "projects",
				    json_pack("{s:{s:o}}", root, "mcpServers", local));
	else
		json_decref(local);
	return json_write(arena, account, JSON_INDENT(2));
}

static void add_words(struct arena *arena, const struct facts *facts, json_t *servers,
		      strings *words)
{
	const char *name;
	json_t *server;
	json_t *argument;
	size_t i;

	json_object_foreach(servers, name, server) {
		json_t *arguments = json_object_get(server, "args");
		const char *program = json_string_value(json_object_get(server, "command"));
		const char *before = NULL;

		if (words->count > (size_t)MOST_SERVERS * MOST_ARGUMENTS)
			return;
		if (program && *program)
			vec_push(arena, words,
				 references_expand(arena, program, look_up_on_host, facts, NULL));
		json_array_foreach(arguments, i, argument) {
			const char *text = json_string_value(argument);
			const char *full = references_expand(arena, text ? text : "",
							     look_up_on_host, facts, NULL);

			if (i < MOST_ARGUMENTS && command_is_script(program, before))
				command_add_words(arena, facts->home, full, words);
			else if (i < MOST_ARGUMENTS && command_path(full))
				vec_push(arena, words, command_path(full));
			before = full;
		}
	}
}

void servers_add_words(struct arena *arena, const struct facts *facts, strings *words)
{
	JSON_OWNED *account = json_read_object(facts->user_claude.account_json, 0);
	const char *root;
	json_t *project;

	add_words(arena, facts, account_user_servers(account), words);
	json_object_foreach(json_object_get(account, "projects"), root, project)
		add_words(arena, facts, account_local_servers(account, root), words);
}

void servers_add_words_of(struct arena *arena, const struct facts *facts, const char *text,
			  strings *words)
{
	JSON_OWNED *file = json_read_object(text, 0);

	add_words(arena, facts, account_user_servers(file), words);
}
