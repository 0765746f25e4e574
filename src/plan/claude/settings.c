// SPDX-License-Identifier: MIT
// Filters and merges the user's Claude settings.
#include "plan/claude/settings.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/names.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { SECRET_LEAST = 8 }; // "keybindings": "vim" is none

// Keys that run a program for a credential on the host, or that the box decides itself.
static const char *const dropped_settings[] = {
	"apiKeyHelper",      "awsAuthRefresh",  "awsCredentialExport", "gcpAuthRefresh",
	"otelHeadersHelper", "proxyAuthHelper", "processWrapper",      "policyHelper",
	"policyHelpers",     "sshHostCommands", "sshConfigs",
};

bool settings_valid(const char *text)
{
	JSON_OWNED *value = json_read_object(text, 0);

	return value != NULL;
}

static void switch_sandbox_off(json_t *settings)
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
	switch_sandbox_off(settings);
	written = json_write(arena, settings, JSON_COMPACT);
	return arena_strndup(arena, written, strlen(written) - 1); // one word, without a newline
}

// Without user namespaces it would make every command of Claude's fail.
static void filter_sandbox(struct arena *arena, const struct plan *plan, json_t *settings,
			   strings *notes)
{
	const json_t *sandbox = json_object_get(settings, "sandbox");

	if (plan->user_namespaces || !json_is_true(json_object_get(sandbox, "enabled")))
		return;
	vec_push(
		arena, notes,
		"settings: Claude's own sandbox, with what it allows and denies, is off in the box "
		"(a profile with \"nested\": true keeps it)");
	switch_sandbox_off(settings);
}

static void filter_variables(struct arena *arena, json_t *settings, strings *notes)
{
	json_t *variables = json_object_get(settings, "env");
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(variables, next, name, value) {
		const char *text = json_string_value(value);
		bool reserved =
			variable_row_find(reserved_variables, reserved_variable_count, name);

		if (text && !reserved && !secret_name(name) && !secret_value(text))
			continue;
		vec_push(arena, notes,
			 arena_printf(arena, "settings: env '%s' is left out (%s)",
				      quote_word(arena, name, 60),
				      reserved ? "the box sets it" : "it looks like a secret"));
		json_object_del(variables, name);
	}
}

// Headers and whatever looks like a secret, at any depth: of MCP servers, marketplaces, HTTP hooks, plugins.
static void filter_nested(struct arena *arena, json_t *value, const char *where, strings *notes)
{
	const char *key;
	json_t *member;
	size_t i;
	void *next;

	for (i = json_array_size(value); i-- > 0;) {
		member = json_array_get(value, i);
		if (!json_is_string(member) || !secret_value(json_string_value(member))) {
			filter_nested(arena, member, where, notes);
			continue;
		}
		vec_push(arena, notes,
			 arena_printf(
				 arena,
				 "settings: an entry of '%s' is left out (it looks like a secret)",
				 quote_word(arena, where, 80)));
		json_array_remove(value, i);
	}
	json_object_foreach_safe(value, next, key, member) {
		const char *text = json_string_value(member);
		const char *path = arena_printf(arena, "%s%s%s", where, *where ? "." : "", key);
		bool secret = str_equal(key, "headers") || str_equal(key, "headersHelper") ||
			      (text && ((secret_name(key) && strlen(text) >= SECRET_LEAST) ||
					secret_value(text)));

		if (!secret) {
			filter_nested(arena, member, path, notes);
			continue;
		}
		vec_push(arena, notes,
			 arena_printf(arena, "settings: '%s' is left out (it looks like a secret)",
				      quote_word(arena, path, 80)));
		json_object_del(value, key);
	}
}

static bool is_shell_word(const char *word)
{
	static const char *const words[] = { "if",     "for",     "while", "case",  "test", "echo",
					     "cd",     "exit",    "true",  "false", "set",  "exec",
					     "eval",   "printf",  "read",  ".",     "[",    "[[",
					     "export", "command", "jq" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_equal(word, words[i]))
			return true;
	return strpbrk(word, "=$`(){}<>|&;!\\*?") != NULL;
}

static bool visible_in_box(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const char *path)
{
	const char *clean = path_clean(arena, path);
	const char *own = path_join(arena, facts->home, ".claude");

	vec_each(entry, &facts->user_claude.entries) {
		if (path_within(clean, path_join(arena, own, path_name(entry->path))))
			return true;
	}
	// The rest of ~/.claude is another one in the box.
	if (path_within(clean, own))
		return false;
	return plan_provides(plan, clean) || path_within(clean, facts->project) ||
	       path_within(clean, "/dev") || path_within(clean, "/tmp");
}

// Every path that the command names is in the box, and so is the program it starts.
static bool command_runs(const struct plan *plan, struct arena *arena, const struct facts *facts,
			 const char *command)
{
	const char *cursor = command;
	bool first = true;

	for (const char *word; (word = str_next_word(arena, &cursor)); first = false) {
		const char *path = path_expand_home(arena, word, facts->home);
		bool here = false;

		if (path[0] == '/') {
			if (!visible_in_box(plan, arena, facts, path))
				return false;
			continue;
		}
		if (!first || is_shell_word(word) || strchr(word, '/'))
			continue;
		vec_each(known, &facts->user_claude.hook_commands_here)
			here |= str_equal(*known, word);
		if (!here)
			return false;
	}
	return true;
}

static const char *command_of(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "command"));
}

// hooks: { "Event": [ { "matcher": …, "hooks": [ { "type": "command", "command": … } ] } ] }
static void filter_hooks(struct arena *arena, const struct plan *plan, const struct facts *facts,
			 json_t *settings, strings *notes)
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
				const char *command = command_of(json_array_get(hooks, k));

				if (!command || command_runs(plan, arena, facts, command))
					continue;
				vec_push(arena, notes,
					 arena_printf(arena,
						      "settings: hook '%s' is left out (cannot run "
						      "in the box)",
						      quote_word(arena, command, 60)));
				json_array_remove(hooks, k);
			}
		}
	}
}

const char *settings_filter(struct arena *arena, const struct plan *plan, const struct facts *facts,
			    strings *notes)
{
	static const char *const command_settings[] = { "statusLine", "subagentStatusLine",
							"fileSuggestion" };
	JSON_OWNED *settings = json_read_object(facts->user_claude.settings_json, 0);

	if (!settings) {
		if (facts->user_claude.settings_json)
			vec_push(arena, notes,
				 "settings: the host's settings.json is not valid JSON");
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dropped_settings); i++) {
		if (json_object_del(settings, dropped_settings[i]) == 0)
			vec_push(arena, notes,
				 arena_printf(arena,
					      "settings: '%s' is left out (works with secrets "
					      "of the host)",
					      dropped_settings[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(command_settings); i++) {
		const char *command = command_of(json_object_get(settings, command_settings[i]));

		if (!command || command_runs(plan, arena, facts, command))
			continue;
		vec_push(arena, notes,
			 arena_printf(arena, "settings: '%s' is left out (cannot run in the box)",
				      command_settings[i]));
		json_object_del(settings, command_settings[i]);
	}
	filter_sandbox(arena, plan, settings, notes);
	filter_variables(arena, settings, notes);
	filter_hooks(arena, plan, facts, settings, notes);
	filter_nested(arena, settings, "", notes);
	return json_write(arena, settings, JSON_INDENT(2));
}

const char *settings_merge(struct arena *arena, const char *base, const char *host_settings,
			   const char *box_settings)
{
	JSON_OWNED *old = json_read_object(base, 0);
	JSON_OWNED *new = json_read_object(host_settings, 0);
	JSON_OWNED *box = json_read_object(box_settings, 0);
	JSON_OWNED *result = json_object();
	const char *key;
	json_t *value;

	json_object_foreach(new, key, value) {
		json_t *mine = json_object_get(box, key);
		json_t *before = json_object_get(old, key);
		// The box took it away, or changed it, since the host last gave it.
		bool changed = box && before && (!mine || !json_equal(mine, before));
		bool own = box && !before && mine;

		if (changed || own)
			value = mine;
		if (value)
			json_object_set(result, key, value);
	}
	json_object_foreach(box, key, value) {
		json_t *before = json_object_get(old, key);

		if (!json_object_get(new, key) && !(before && json_equal(before, value)))
			json_object_set(result, key, value);
	}
	// The box is the permission layer (UX-06): no question about that.
	json_object_set_new(result, "skipDangerousModePermissionPrompt", json_true());
	return box && json_equal(box, result) ? NULL : json_write(arena, result, JSON_INDENT(2));
}

static void add_command_word(struct arena *arena, const char *command, strings *words)
{
	const char *cursor = command;
	const char *word = command ? str_next_word(arena, &cursor) : NULL;

	if (word && !strchr(word, '/') && !is_shell_word(word))
		vec_push(arena, words, word);
}

strings settings_command_words(struct arena *arena, const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	json_t *events = json_object_get(settings, "hooks");
	strings words = { 0 };
	const char *event;
	json_t *matchers;
	json_t *matcher;
	json_t *hook;
	size_t i;
	size_t k;

	add_command_word(arena, command_of(json_object_get(settings, "statusLine")), &words);
	add_command_word(arena, command_of(json_object_get(settings, "subagentStatusLine")),
			 &words);
	add_command_word(arena, command_of(json_object_get(settings, "fileSuggestion")), &words);
	json_object_foreach(events, event, matchers)
		json_array_foreach(matchers, i, matcher)
			json_array_foreach(json_object_get(matcher, "hooks"), k, hook)
				add_command_word(arena, command_of(hook), &words);
	return words;
}

static void find_in_block(struct arena *arena, const char *where, const json_t *block,
			  strings *found)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)block, name, value) {
		const char *text = json_string_value(value);
		bool literal = text && *text && !str_starts(text, "$");

		if (literal && (secret_name(name) || secret_value(text)))
			vec_push(arena, found, arena_printf(arena, "%s: %s", where, name));
	}
}

void settings_find_secrets(struct arena *arena, const char *file, const char *text, strings *found)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	const char *server;
	json_t *entry;

	find_in_block(arena, arena_printf(arena, "%s: env", file), json_object_get(settings, "env"),
		      found);
	json_object_foreach(json_object_get(settings, "mcpServers"), server, entry) {
		find_in_block(arena, arena_printf(arena, "%s: MCP server '%s'", file, server),
			      json_object_get(entry, "env"), found);
		find_in_block(arena, arena_printf(arena, "%s: MCP server '%s'", file, server),
			      json_object_get(entry, "headers"), found);
	}
}
