// SPDX-License-Identifier: MIT
// The members of an MCP server that come along.
#include "plan/mcp/members.h"

#include "base/arena.h"
#include "base/json.h"

static bool all_strings(json_t *container)
{
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(container, i, value)
		if (!json_is_string(value))
			return false;
	json_object_foreach(container, key, value)
		if (!json_is_string(value))
			return false;
	return true;
}

// The servers that a member belongs to.
enum member_of { OF_PROGRAM, OF_ADDRESS, OF_BOTH };

// A member of a server that comes along.
struct member_row {
	const char *name;
	enum member_of of;
	json_type type; // JSON_TRUE: a boolean
	bool strings;   // a container of strings
	const char *why;
};
static const struct member_row member_table[] = {
	{ "type", OF_BOTH, JSON_STRING, false, "stdio, http or sse" },
	{ "command", OF_PROGRAM, JSON_STRING, false, "the program" },
	{ "args", OF_PROGRAM, JSON_ARRAY, true, "its arguments" },
	{ "env", OF_PROGRAM, JSON_OBJECT, true, "its variables" },
	{ "url", OF_ADDRESS, JSON_STRING, false, "the address" },
	{ "headers", OF_ADDRESS, JSON_OBJECT, true, "of each request" },
	{ "oauth", OF_ADDRESS, JSON_OBJECT, false, "how a login is done; it contains none" },
	{ "tools", OF_BOTH, JSON_ARRAY, false, "which tools are allowed" },
	{ "toolPermissions", OF_BOTH, JSON_OBJECT, false, "which tools are allowed" },
	{ "timeout", OF_BOTH, JSON_INTEGER, false, "of a call" },
	{ "request_timeout_ms", OF_BOTH, JSON_INTEGER, false, "of a call" },
	{ "alwaysLoad", OF_BOTH, JSON_TRUE, false, "whether its tools are always described" },
};

json_t *server_copy_known(const json_t *server, bool by_address)
{
	json_t *copy = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(member_table); i++) {
		const struct member_row *row = &member_table[i];
		json_t *value = json_object_get(server, row->name);
		bool typed = row->type == JSON_TRUE ? json_is_boolean(value)
						    : value && json_typeof(value) == row->type;

		if (!value || row->of == (by_address ? OF_PROGRAM : OF_ADDRESS))
			continue;
		if (!typed || (row->strings && !all_strings(value))) {
			json_decref(copy);
			return NULL;
		}
		json_object_set_new(copy, row->name, json_deep_copy(value));
	}
	if (json_object_get(copy, by_address ? "url" : "command"))
		return copy;
	json_decref(copy);
	return NULL;
}
