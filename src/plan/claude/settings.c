// SPDX-License-Identifier: MIT
// Filters the user's Claude settings for the box, and merges them with the box's own.
#include "plan/claude/settings.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/clean.h"
#include "plan/claude/commands.h"
#include "plan/claude/files.h"
#include "plan/claude/variables.h"
#include "plan/facts.h"
#include "plan/mcp/references.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { SHOWN_COMMAND = 60 };

// Keys that run a program of the host for credentials or policy, that name remote hosts, or that
// wrap Claude's processes.
static const char *const dropped_settings[] = {
	"apiKeyHelper",      "awsAuthRefresh",  "awsCredentialExport", "gcpAuthRefresh",
	"otelHeadersHelper", "proxyAuthHelper", "processWrapper",      "policyHelper",
	"policyHelpers",     "sshHostCommands", "sshConfigs",
};

const char *const command_settings[] = { "statusLine", "subagentStatusLine", "fileSuggestion" };
const size_t command_setting_count = ARRAY_SIZE(command_settings);

bool settings_valid(const char *text)
{
	JSON_OWNED *value = json_read_object(text, 0);

	return value != NULL;
}

static void disable_sandbox(json_t *settings)
{
	json_t *sandbox = json_object_get(settings, "sandbox");

	if (!json_is_object(sandbox)) {
		sandbox = json_object();
		json_object_set_new(settings, "sandbox", sandbox);
	}
	json_object_set_new(sandbox, "enabled", json_false());
}

const char *settings_without_sandbox(struct arena *arena, const char *text)
{
	JSON_OWNED *settings = json_read_object(text ? text : "{}", 0);
	const char *written;

	if (!settings)
		return NULL;
	disable_sandbox(settings);
	written = json_write(arena, settings, JSON_COMPACT);
	return arena_strndup(arena, written, strlen(written) - 1); // without the newline
}

bool settings_enable_sandbox(const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	const json_t *sandbox = json_object_get(settings, "sandbox");

	return !settings || (sandbox && !json_is_false(json_object_get(sandbox, "enabled")));
}

// Disables Claude's own sandbox in a box without user namespaces, where it would make every command
// fail.
static void filter_sandbox(struct arena *arena, const struct plan *plan, json_t *settings,
			   strings *notes)
{
	const json_t *sandbox = json_object_get(settings, "sandbox");

	if (plan->config->nested || !json_is_true(json_object_get(sandbox, "enabled")))
		return;
	vec_push(arena, notes,
		 SETTINGS_SHOWN
		 ": Claude's own sandbox and its rules are off in the box (a profile with "
		 "\"nested\": true keeps them on)");
	disable_sandbox(settings);
}

// Removes secrets at any depth: those in permissions, commands, marketplaces, HTTP hooks and MCP
// servers.
static void filter_secrets(struct arena *arena, json_t *settings, strings *notes)
{
	struct text names = { .arena = arena };
	strings removed = { 0 };

	clean_json(arena, settings, CLEAN_CONFIGURATION, &removed);
	vec_each(path, &removed)
		text_printf(&names, "%s'%s'", names.length ? ", " : "", *path);
	if (removed.count)
		vec_push(arena, notes,
			 arena_printf(arena, SETTINGS_SHOWN ": %s %s left out (%s)",
				      text_get(&names), removed.count > 1 ? "are" : "is",
				      removed.count > 1 ? "they look like secrets"
							: "it looks like a secret"));
}

enum left_out_kind settings_command_kind(const char *key)
{
	if (str_equal(key, "hook"))
		return LEFT_OUT_HOOK;
	return str_equal(key, "fileSuggestion") ? LEFT_OUT_OTHER : LEFT_OUT_STATUS_LINE;
}

static const char *get_command(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "command"));
}

// Returns whether a command can run in the box, and names it as left out otherwise, once.
static bool keep_command(struct plan *plan, struct arena *arena, const struct facts *facts,
			 enum left_out_kind kind, const char *what, const char *command)
{
	command_lacks lacks = { 0 };
	struct command_lack lack;

	if (command)
		command_find_lacks(plan, arena, facts, command, false, &lacks);
	if (!lacks.count)
		return true;
	lack = command_join_lacks(arena, &lacks);
	vec_each(row, &plan->left_out) {
		if (str_equal(row->what, what))
			return false;
	}
	plan_leave_out_kind(plan, arena, kind, what, lack.why, lack.option);
	return false;
}

// Removes the hooks that cannot run in the box. The format:
// { "Event": [ { "matcher": …, "hooks": [ { "type": "command", "command": … } ] } ] }
static void filter_hooks(struct plan *plan, struct arena *arena, const struct facts *facts,
			 json_t *settings)
{
	json_t *events = json_object_get(settings, "hooks");
	const char *event;
	json_t *matchers;

	json_object_foreach(events, event, matchers) {
		size_t i;
		json_t *matcher;

		json_array_foreach(matchers, i, matcher) {
			json_t *hooks = json_object_get(matcher, "hooks");

			for (size_t k = json_array_size(hooks); k-- > 0;) {
				const char *command = get_command(json_array_get(hooks, k));
				const char *what = arena_printf(
					arena, "hook '%s'",
					command ? quote_display(arena, command, SHOWN_COMMAND)
						: "");

				if (!keep_command(plan, arena, facts, LEFT_OUT_HOOK, what, command))
					json_array_remove(hooks, k);
			}
		}
	}
}

// Removes the other commands that cannot run in the box.
static void filter_commands(struct plan *plan, struct arena *arena, const struct facts *facts,
			    json_t *settings)
{
	for (size_t i = 0; i < command_setting_count; i++) {
		const char *key = command_settings[i];
		const char *command = get_command(json_object_get(settings, key));
		const char *what =
			arena_printf(arena, "%s '%s'", key,
				     command ? quote_display(arena, command, SHOWN_COMMAND) : "");

		if (!keep_command(plan, arena, facts, settings_command_kind(key), what, command))
			json_object_del(settings, key);
	}
}

const char *settings_filter(struct plan *plan, struct arena *arena, const struct facts *facts,
			    strings *notes)
{
	JSON_OWNED *settings = json_read_object(facts->user_claude.settings_json, 0);

	if (!settings) {
		if (facts->user_claude.settings_json)
			vec_push(arena, notes,
				 SETTINGS_SHOWN ": it is not valid JSON and is ignored");
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dropped_settings); i++) {
		if (json_object_del(settings, dropped_settings[i]) == 0)
			vec_push(arena, notes,
				 arena_printf(arena,
					      SETTINGS_SHOWN
					      ": '%s' is left out (it uses secrets of "
					      "the host)",
					      dropped_settings[i]));
	}
	// First, because later notes show parts of commands.
	settings_filter_variables(arena, plan->config, json_object_get(settings, "env"), notes);
	filter_secrets(arena, settings, notes);
	filter_commands(plan, arena, facts, settings);
	filter_sandbox(arena, plan, settings, notes);
	filter_hooks(plan, arena, facts, settings);
	return json_write(arena, settings, JSON_INDENT(2));
}

const char *settings_merge(struct arena *arena, enum merge_mode mode, const char *base,
			   const char *host_settings, const char *box_settings)
{
	JSON_OWNED *old = json_read_object(base, 0);
	JSON_OWNED *new = json_read_object(host_settings, 0);
	JSON_OWNED *box = json_read_object(box_settings, 0);
	JSON_OWNED *result = merge_members(mode, old, new, box);

	// Claude runs without permission questions in the box and must not ask to confirm that.
	json_object_set_new(result, "skipDangerousModePermissionPrompt", json_true());
	return box && json_equal(box, result) ? NULL : json_write(arena, result, JSON_INDENT(2));
}

const char *settings_next_base(struct arena *arena, enum merge_mode mode, const char *base,
			       const char *host_settings)
{
	JSON_OWNED *old = json_read_object(base, 0);
	JSON_OWNED *new = json_read_object(host_settings, 0);
	JSON_OWNED *next = new ? merge_base(mode, old, new) : NULL;

	return !next || (old && json_equal(old, next)) ? NULL
						       : json_write(arena, next, JSON_INDENT(2));
}

static void add_command(struct arena *arena, const char *kind, const json_t *entry,
			settings_commands *found)
{
	const char *command = get_command(entry);

	if (command)
		vec_push(arena, found,
			 (struct settings_command){ .kind = kind,
						    .command = arena_strdup(arena, command) });
}

settings_commands settings_list_commands(struct arena *arena, const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	json_t *events = json_object_get(settings, "hooks");
	settings_commands found = { 0 };
	const char *event;
	json_t *matchers;
	json_t *matcher;
	json_t *hook;
	size_t i;
	size_t k;

	for (i = 0; i < command_setting_count; i++)
		add_command(arena, command_settings[i],
			    json_object_get(settings, command_settings[i]), &found);
	json_object_foreach(events, event, matchers)
		json_array_foreach(matchers, i, matcher)
			json_array_foreach(json_object_get(matcher, "hooks"), k, hook)
				add_command(arena, "hook", hook, &found);
	return found;
}

void settings_add_words(struct arena *arena, const char *home, const char *text, strings *words)
{
	settings_commands commands = settings_list_commands(arena, text);

	vec_each(command, &commands)
		command_add_words(arena, home, command->command, words);
}

// Adds the names in an object whose values are literal secrets, and removes these members. "$NAME"
// refers to a variable, whose default is a literal.
static void take_secrets(struct arena *arena, const char *where, json_t *block, strings *found)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(block, next, name, value) {
		const char *written = json_string_value(value);
		const char *text = written ? references_defaults(arena, written) : NULL;
		bool literal = text && *text && !str_starts(text, "$");
		const char *kind;

		if (!literal || secret_variable(name, text, &kind) == SECRET_NONE)
			continue;
		vec_push(arena, found, arena_printf(arena, "%s: %s", where, name));
		json_object_del(block, name);
	}
}

void settings_find_secrets(struct arena *arena, const char *file, const char *text, strings *found)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	strings others = { 0 };
	const char *server;
	json_t *entry;

	take_secrets(arena, arena_printf(arena, "%s: env", file), json_object_get(settings, "env"),
		     found);
	json_object_foreach(json_object_get(settings, "mcpServers"), server, entry) {
		const char *where = arena_printf(arena, "%s: MCP server '%s'", file, server);

		take_secrets(arena, where, json_object_get(entry, "env"), found);
		take_secrets(arena, where, json_object_get(entry, "headers"), found);
		json_object_del(entry, "headers");
	}
	// The other places: permissions, commands, arguments, addresses. A repository must not slow
	// down the start.
	if (text && strlen(text) <= CLAUDE_TEXT_LIMIT)
		clean_json(arena, settings, CLEAN_CONFIGURATION, &others);
	vec_each(path, &others)
		vec_push(arena, found, arena_printf(arena, "%s: %s", file, *path));
}
