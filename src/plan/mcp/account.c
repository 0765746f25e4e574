// SPDX-License-Identifier: MIT
// Claude's account file, .claude.json: the parts of the user's that come along, and those of the
// instance.
#include "plan/mcp/account.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/json_skim.h"
#include "base/text.h"
#include "plan/claude/preferences.h"

#include <string.h>

// A list of servers has a few kilobytes.
enum { LONGEST_SERVERS = 1024 * 1024, LONGEST_PREFERENCE = 64 };

// Stores a member that must be a container, and null if it cannot be read.
static void keep(struct arena *arena, json_t *reduced, const char *key,
		 const struct json_member *member)
{
	json_t *value = json_skim_value(arena, member, LONGEST_SERVERS);

	json_object_set_new(reduced, key, value ? value : json_null());
}

static void keep_preference(struct arena *arena, json_t *reduced, const struct json_member *member)
{
	for (size_t i = 0; i < preference_count; i++) {
		const char *name = preference_table[i].name;
		JSON_OWNED *value = json_skim_is(member, name)
					    ? json_skim_value(arena, member, LONGEST_PREFERENCE)
					    : NULL;

		if (value && preference_passes(name, value))
			json_object_set(reduced, name, value);
	}
}

// Returns how JSON writes the text, without the quotes; NULL: it is not UTF-8.
static const char *written_key(struct arena *arena, const char *text)
{
	JSON_OWNED *value = json_string(text);
	const char *written = value ? json_write(arena, value, JSON_ENCODE_ANY) : NULL;

	return written ? arena_strndup(arena, written + 1, strlen(written) - 3) : NULL;
}

// Stores the members of this project. The same key in another spelling is not found: Claude writes
// paths as JSON.stringify does.
static void keep_project(struct arena *arena, json_t *reduced, const struct json_member *projects,
			 const char *root)
{
	const char *key = written_key(arena, root);
	struct json_skim skim = json_skim_start(projects->value);
	struct json_member project;
	struct json_member member;

	while (key && json_skim_next(&skim, &project)) {
		struct json_skim inside = json_skim_start(project.value);
		json_t *kept = json_object();

		if (!json_skim_is(&project, key)) {
			json_decref(kept);
			continue;
		}
		while (json_skim_next(&inside, &member)) {
			if (json_skim_is(&member, "mcpServers"))
				keep(arena, kept, "mcpServers", &member);
			else if (json_skim_is(&member, "disabledMcpServers"))
				keep(arena, kept, "disabledMcpServers", &member);
		}
		json_object_set_new(reduced, "projects", json_pack("{s:o}", root, kept));
	}
}

const char *account_reduce(struct arena *arena, const char *text, const char *root)
{
	struct json_skim skim = json_skim_start(text);
	JSON_OWNED *reduced = json_object();
	struct json_member member;

	if (!text)
		return NULL;
	while (json_skim_next(&skim, &member)) {
		if (json_skim_is(&member, "mcpServers"))
			keep(arena, reduced, "mcpServers", &member);
		else if (json_skim_is(&member, "projects"))
			keep_project(arena, reduced, &member, root);
		else
			keep_preference(arena, reduced, &member);
	}
	return skim.complete ? json_write(arena, reduced, JSON_COMPACT) : "";
}

json_t *account_user_servers(const json_t *account)
{
	return json_object_get(account, "mcpServers");
}

json_t *account_local_servers(const json_t *account, const char *root)
{
	return json_object_get(json_object_get(json_object_get(account, "projects"), root),
			       "mcpServers");
}

// Merges one list of servers into `parent`.
static void merge_servers(enum merge_mode mode, json_t *parent, const json_t *base,
			  const json_t *host)
{
	json_t *own = json_object_get(parent, "mcpServers");
	json_t *merged = merge_members(mode, base, host, json_is_object(own) ? own : NULL);

	if (json_object_size(merged) || own)
		json_object_set(parent, "mcpServers", merged);
	json_decref(merged);
}

void account_merge(enum merge_mode mode, json_t *instance, const json_t *base, const json_t *host,
		   const char *root)
{
	const json_t *local = account_local_servers(host, root);
	const json_t *local_before = account_local_servers(base, root);

	for (size_t i = 0; i < preference_count; i++) {
		const char *name = preference_table[i].name;
		json_t *own = json_object_get(instance, name);
		json_t *before = json_object_get(base, name);
		json_t *wanted = json_object_get(host, name);

		// The box's value stays unless it is the host's of the last start.
		if (before ? !own || !json_equal(own, before) : own != NULL)
			continue;
		if (mode == MERGE_ADDED && own)
			continue;
		if (wanted)
			json_object_set(instance, name, wanted);
		else
			json_object_del(instance, name);
	}
	merge_servers(mode, instance, account_user_servers(base), account_user_servers(host));
	if (local || local_before) {
		json_t *project =
			json_get_or_add_object(json_get_or_add_object(instance, "projects"), root);

		if (project)
			merge_servers(mode, project, local_before, local);
	}
}

// Adds the servers of `base` that the box has removed and that the host still has to `kept`, unless
// it has them.
static void keep_removed(json_t *kept, const json_t *base, const json_t *host, const json_t *box)
{
	const char *name;
	json_t *server;

	json_object_foreach((json_t *)base, name, server)
		if (json_is_object(kept) && json_object_get(host, name) &&
		    !json_object_get(box, name) && !json_object_get(kept, name))
			json_object_set(kept, name, server);
}

// Gives the next base the servers of the present one.
static void keep_servers(json_t *next, const json_t *base)
{
	json_t *servers = json_object_get(base, "mcpServers");

	if (servers)
		json_object_set_new(next, "mcpServers",
				    merge_base(MERGE_ADDED, servers,
					       json_object_get(next, "mcpServers")));
}

// Returns the present base with what the next one adds.
static json_t *add_to_base(const json_t *base, const json_t *next, const char *root)
{
	json_t *result = json_deep_copy(next);
	const json_t *project = json_object_get(json_object_get(base, "projects"), root);

	for (size_t i = 0; i < preference_count; i++) {
		json_t *value = json_object_get(base, preference_table[i].name);

		if (value)
			json_object_set(result, preference_table[i].name, value);
	}
	keep_servers(result, base);
	if (project)
		keep_servers(json_get_or_add_object(json_get_or_add_object(result, "projects"),
						    root),
			     project);
	return result;
}

const char *account_next_base(struct arena *arena, enum merge_mode mode, const char *filtered,
			      const struct account_texts *texts, const char *root)
{
	JSON_OWNED *next = json_read_object(filtered, 0);
	JSON_OWNED *base = json_read_object(texts->base, 0);
	JSON_OWNED *host = json_read_object(texts->host, 0);
	JSON_OWNED *box = json_read_object(texts->box, 0);
	JSON_OWNED *before = NULL;

	if (!next || !base || !box)
		return filtered;
	if (mode == MERGE_ADDED) {
		JSON_OWNED *result = add_to_base(base, next, root);

		return json_equal(result, base) ? texts->base
						: json_write(arena, result, JSON_INDENT(2));
	}
	before = json_deep_copy(next);
	keep_removed(account_user_servers(next), account_user_servers(base),
		     account_user_servers(host), account_user_servers(box));
	keep_removed(account_local_servers(next, root), account_local_servers(base, root),
		     account_local_servers(host, root), account_local_servers(box, root));
	return json_equal(before, next) ? filtered : json_write(arena, next, JSON_INDENT(2));
}

const char *account_server_name(struct arena *arena, const char *name, bool local)
{
	return arena_printf(arena, "%s %s", local ? "local" : "user", name);
}

strings account_server_names(struct arena *arena, const json_t *account, const char *root)
{
	strings names = { 0 };
	const char *name;
	json_t *server;

	json_object_foreach(account_user_servers(account), name, server)
		vec_push(arena, &names, account_server_name(arena, name, false));
	json_object_foreach(account_local_servers(account, root), name, server)
		vec_push(arena, &names, account_server_name(arena, name, true));
	return names;
}
