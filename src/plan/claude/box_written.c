// SPDX-License-Identifier: MIT
#include "plan/claude/box_written.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

// Keys of the settings that start a program, choose an address, open a directory or load something.
static const char *const acting_settings[] = {
	"hooks",
	"statusLine",
	"subagentStatusLine",
	"fileSuggestion",
	"env",
	"enabledPlugins",
	"extraKnownMarketplaces",
	"enableAllProjectMcpServers",
	"enabledMcpjsonServers",
	"mcpServers",
};

// Removes a member. Adds its name with `prefix`.
static void remove_member(struct arena *arena, json_t *object, const char *prefix, const char *key,
			  strings *removed)
{
	if (json_object_del(object, key) == 0)
		vec_push(arena, removed, arena_printf(arena, "%s%s", prefix, key));
}

const char *box_written_settings(struct arena *arena, const char *text, strings *removed)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	size_t before = removed->count;

	for (size_t i = 0; settings && i < ARRAY_SIZE(acting_settings); i++)
		remove_member(arena, settings, "", acting_settings[i], removed);
	remove_member(arena, json_object_get(settings, "permissions"), "permissions.",
		      "additionalDirectories", removed);
	return removed->count == before ? text : json_write(arena, settings, JSON_INDENT(2));
}

const char *box_written_account(struct arena *arena, const char *text, strings *removed)
{
	JSON_OWNED *account = json_read_object(text, 0);
	size_t before = removed->count;
	const char *root;
	json_t *project;

	remove_member(arena, account, "", "mcpServers", removed);
	json_object_foreach(json_object_get(account, "projects"), root, project)
		remove_member(arena, project, "projects.*.", "mcpServers", removed);
	return removed->count == before ? text : json_write(arena, account, JSON_COMPACT);
}
