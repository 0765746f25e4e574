// SPDX-License-Identifier: MIT
// Filters the user's Claude settings for the box, and merges them with the box's own.
#include "plan/claude/settings.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/clean.h"
#include "plan/claude/files.h"
#include "plan/claude/variables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>

// Keys that run a program of the host for credentials or policy, that name remote hosts, or that
// wrap Claude's processes.
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

// Disables Claude's own sandbox in a box without user namespaces, where it would make every command
// fail.
static void filter_sandbox(struct arena *arena, const struct plan *plan, json_t *settings,
			   strings *notes)
{
	const json_t *sandbox = json_object_get(settings, "sandbox");

	if (plan->config->nested || !json_is_true(json_object_get(sandbox, "enabled")))
		return;
	vec_push(arena, notes,
		 "settings: Claude's own sandbox and its rules are off in the box (a profile with "
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
			 arena_printf(arena, "settings: %s %s left out (%s)", text_get(&names),
				      removed.count > 1 ? "are" : "is",
				      removed.count > 1 ? "they look like secrets"
							: "it looks like a secret"));
}

// Returns whether the first word of a command is a part of the shell, or is too complex to be
// checked, so that it is not searched for on PATH.
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

bool claude_visible_in_box(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const char *path)
{
	const char *clean = path_clean(arena, path);
	const char *own = path_join(arena, facts->home, ".claude");

	vec_each(entry, &facts->user_claude.entries) {
		if (path_within(clean, path_join(arena, own, path_name(entry->path))))
			return claude_parts_have(&facts->user_claude.parts,
						 clean + strlen(own) + 1);
	}
	// The box has its own ~/.claude: only the entries above are the host's.
	if (path_within(clean, own))
		return false;
	return plan_provides(plan, clean) || path_within(clean, facts->project) ||
	       path_within(clean, "/dev") || path_within(clean, "/tmp");
}

// Returns whether the box has the program of a command and every absolute path in it.
static bool can_run(const struct plan *plan, struct arena *arena, const struct facts *facts,
		    const char *command)
{
	const char *cursor = command;
	bool first = true;

	for (const char *word; (word = str_next_word(arena, &cursor)); first = false) {
		const char *path = path_expand_home(arena, word, facts->home);
		bool found = false;

		if (path[0] == '/') {
			if (!claude_visible_in_box(plan, arena, facts, path))
				return false;
			continue;
		}
		if (!first || is_shell_word(word) || strchr(word, '/'))
			continue;
		vec_each(known, &facts->user_claude.hook_commands_found)
			found |= str_equal(*known, word);
		if (!found)
			return false;
	}
	return true;
}

static const char *get_command(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "command"));
}

// Removes the hooks that cannot run in the box. The format:
// { "Event": [ { "matcher": …, "hooks": [ { "type": "command", "command": … } ] } ] }
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
				const char *command = get_command(json_array_get(hooks, k));

				if (!command || can_run(plan, arena, facts, command))
					continue;
				vec_push(arena, notes,
					 arena_printf(arena,
						      "settings: hook '%s' is left out (it cannot "
						      "run in the box)",
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
			vec_push(
				arena, notes,
				"settings: the host's settings.json is not valid JSON and is ignored");
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dropped_settings); i++) {
		if (json_object_del(settings, dropped_settings[i]) == 0)
			vec_push(arena, notes,
				 arena_printf(arena,
					      "settings: '%s' is left out (it uses secrets of "
					      "the host)",
					      dropped_settings[i]));
	}
	// First, because later notes show parts of commands.
	settings_filter_variables(arena, plan->config, json_object_get(settings, "env"), notes);
	filter_secrets(arena, settings, notes);
	for (size_t i = 0; i < ARRAY_SIZE(command_settings); i++) {
		const char *command = get_command(json_object_get(settings, command_settings[i]));

		if (!command || can_run(plan, arena, facts, command))
			continue;
		vec_push(arena, notes,
			 arena_printf(arena,
				      "settings: '%s' is left out (it cannot run in the box)",
				      command_settings[i]));
		json_object_del(settings, command_settings[i]);
	}
	filter_sandbox(arena, plan, settings, notes);
	filter_hooks(arena, plan, facts, settings, notes);
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
		json_t *own = json_object_get(box, key);
		json_t *before = json_object_get(old, key);
		// The box has removed or changed the host's value since the last start.
		bool changed = box && before && (!own || !json_equal(own, before));
		bool added = box && !before && own;

		if (changed || added)
			value = own;
		if (value)
			json_object_set(result, key, value);
	}
	json_object_foreach(box, key, value) {
		json_t *before = json_object_get(old, key);

		if (!json_object_get(new, key) && !(before && json_equal(before, value)))
			json_object_set(result, key, value);
	}
	// Claude runs without permission questions in the box and must not ask to confirm that.
	json_object_set_new(result, "skipDangerousModePermissionPrompt", json_true());
	return box && json_equal(box, result) ? NULL : json_write(arena, result, JSON_INDENT(2));
}

// Adds the first word of a command if it is the name of a program to find on PATH.
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

	add_command_word(arena, get_command(json_object_get(settings, "statusLine")), &words);
	add_command_word(arena, get_command(json_object_get(settings, "subagentStatusLine")),
			 &words);
	add_command_word(arena, get_command(json_object_get(settings, "fileSuggestion")), &words);
	json_object_foreach(events, event, matchers)
		json_array_foreach(matchers, i, matcher)
			json_array_foreach(json_object_get(matcher, "hooks"), k, hook)
				add_command_word(arena, get_command(hook), &words);
	return words;
}

// Adds the names in an object whose values are literal secrets, and removes these members. "$NAME"
// refers to a variable.
static void take_secrets(struct arena *arena, const char *where, json_t *block, strings *found)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(block, next, name, value) {
		const char *text = json_string_value(value);
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
