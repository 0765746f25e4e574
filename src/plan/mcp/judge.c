// SPDX-License-Identifier: MIT
// Judges one MCP server of the user: its secrets, its program or address.
#include "plan/mcp/judge.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/claude/clean.h"
#include "plan/claude/commands.h"
#include "plan/claude/variables.h"
#include "plan/facts.h"
#include "plan/mcp/members.h"
#include "plan/mcp/reach.h"
#include "plan/mcp/reasons.h"
#include "plan/mcp/references.h"
#include "plan/mcp/secrets.h"
#include "plan/plan.h"
#include "plan/registries/address.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { LONGEST_SERVER = 64 * 1024 };

// A server under examination.
struct judged {
	struct plan *plan;
	struct arena *arena;
	const struct facts *facts;
	json_t *server;                      // a copy with the known members
	VEC(struct plan_variable) variables; // secrets that the user names, for the box
	struct server_reasons reasons;       // to leave it out
};

static bool refuse(struct judged *judged, const char *why, const char *option)
{
	return reasons_add(&judged->reasons, judged->arena, why, option);
}

static bool refuse_secret(struct judged *judged, const char *why)
{
	return reasons_add_secret(&judged->reasons, judged->arena, why);
}

// Returns how the user requested a variable, NULL: not at all.
static const struct origin *find_request(const struct plan *plan, struct arena *arena,
					 const char *name)
{
	vec_each(variable, &plan->config->variables) {
		if (str_equal(variable->name, name))
			return &variable->origin;
	}
	if (settings_variable_requested(plan->config, name)) {
		struct origin *extra = arena_alloc(arena, sizeof(*extra));

		*extra = origin_requested("CLAUDEBOX_EXTRA_ENV");
		return extra;
	}
	return NULL;
}

// Replaces a secret variable of the server by a reference to the box's, if the user names it. The
// value is then in no file of the instance.
static bool refer_to_variable(struct judged *judged, json_t *env, const char *name,
			      const char *value)
{
	const struct plan *plan = judged->plan;
	struct arena *arena = judged->arena;
	const struct origin *origin = find_request(plan, arena, name);
	const char *present = plan_variable(plan, name);
	struct plan_variable variable = { .name = arena_strdup(arena, name),
					  .value = arena_strdup(arena, value) };

	if (!origin || (present && !str_equal(present, value)))
		return false;
	if (!present) {
		variable.origin = *origin;
		variable.secret = secret_variable(name, value, &variable.secret_kind);
		vec_push(arena, &judged->variables, variable);
	}
	json_object_set_new(env, name, json_string(arena_printf(arena, "${%s}", name)));
	return true;
}

// Returns whether a text is one reference and nothing else.
static bool is_reference(const char *text)
{
	const char *end = str_starts(text, "${") ? strchr(text, '}') : NULL;

	return end && !end[1];
}

// Returns whether a variable of a server contains a secret. Beyond the detector, a long random part
// counts: services choose the names of these variables freely.
static bool is_secret_variable(struct arena *arena, const char *name, const char *value)
{
	const char *text = references_defaults(arena, value);
	const char *kind;

	if (server_default_is_secret(arena, value))
		return true;
	return !is_reference(text) &&
	       (server_value_is_secret(name, text) ||
		secret_variable(name, text, &kind) != SECRET_NONE || secret_text(name, text) ||
		(secret_random_part(text) && text[0] != '/'));
}

// Returns false if nothing brings the server.
static bool judge_variables(struct judged *judged)
{
	struct arena *arena = judged->arena;
	json_t *env = json_object_get(judged->server, "env");
	strings secrets = { 0 };
	strings others = { 0 };
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(env, next, name, value) {
		const char *text = json_string_value(value);

		if (!env_name_valid(name, strlen(name)) || secret_value(name))
			return refuse(judged, "the name of one of its variables is not valid",
				      NULL);
		if (!is_secret_variable(arena, name, text) ||
		    refer_to_variable(judged, env, name, text))
			continue;
		if (find_request(judged->plan, arena, name)) {
			vec_push(arena, &others, arena_strdup(arena, name));
			continue;
		}
		vec_push(arena, &secrets, arena_strdup(arena, name));
		json_object_del(env, name); // the other parts are examined without it
	}
	if (others.count)
		return refuse(judged,
			      arena_printf(arena, "its %s is not the one that the box has",
					   reasons_list_names(arena, &others)),
			      NULL);
	reasons_add_variables(&judged->reasons, judged->arena, "uses a secret", &secrets);
	return true;
}

// Returns whether the address has a login, or a token in its path or query.
static bool is_secret_address(struct arena *arena, const char *address)
{
	const char *authority = strstr(address, "://");
	size_t length = authority ? strcspn(authority + 3, "/?#") : 0;

	return (length && memchr(authority + 3, '@', length)) || secret_text(NULL, address) ||
	       address_has_token(arena, address);
}

// Replaces the strings of a container, or the string itself, by those with the defaults in place.
static void put_defaults(struct arena *arena, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		json_string_set(value, references_defaults(arena, json_string_value(value)));
	json_array_foreach(value, i, member)
		put_defaults(arena, member);
	json_object_foreach(value, key, member)
		put_defaults(arena, member);
}

// Returns whether the command, the address or a header has a secret as the default of a reference.
static bool has_secret_default(struct arena *arena, const json_t *server)
{
	static const char *const members[] = { "command", "url" };
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = json_string_value(json_object_get(server, members[i]));

		if (text && server_default_is_secret(arena, text))
			return true;
	}
	json_object_foreach(json_object_get(server, "headers"), name, value)
		if (server_default_is_secret(arena, json_string_value(value)))
			return true;
	return false;
}

// Refuses secrets in all other places: arguments, headers, the address, the command.
static bool judge_secrets(struct judged *judged)
{
	struct arena *arena = judged->arena;
	JSON_OWNED *whole =
		json_pack("{s:{s:o}}", "mcpServers", "x", json_deep_copy(judged->server));
	JSON_OWNED *before = NULL;
	const char *address;
	const char *earlier = NULL;
	strings removed = { 0 };
	json_t *server;
	json_t *argument;
	size_t i;

	if (has_secret_default(arena, judged->server))
		return refuse_secret(judged, "the default of a variable in it looks like a secret");
	put_defaults(arena, whole);
	before = json_deep_copy(whole);
	clean_json(arena, whole, CLEAN_CONFIGURATION, &removed);
	if (removed.count || !json_equal(whole, before)) {
		const char *part = removed.count ? strstr(removed.items[0], "mcpServers.x.") : NULL;

		return refuse_secret(judged, arena_printf(arena, "%s looks like a secret",
							  part ? part + strlen("mcpServers.x.")
							       : "a part of it"));
	}
	server = json_object_get(json_object_get(whole, "mcpServers"), "x");
	address = json_string_value(json_object_get(server, "url"));
	if (address && is_secret_address(arena, address))
		return refuse_secret(judged, "its address looks like a secret");
	json_array_foreach(json_object_get(server, "args"), i, argument) {
		const char *text = json_string_value(argument);

		const char *written = json_string_value(
			json_array_get(json_object_get(judged->server, "args"), i));

		if (server_argument_is_secret(earlier, text) ||
		    server_default_is_secret(arena, written) || secret_text(NULL, text) ||
		    (secret_random_part(text) && !command_path(text)))
			return refuse_secret(
				judged, arena_printf(arena, "args[%zu] looks like a secret", i));
		earlier = text;
	}
	return true;
}

// Returns the value of a variable of the box, or of one that the server needs from the host, unless
// it may be a secret: reasons show paths and programs.
static const char *look_up(const void *environment, const char *name)
{
	const struct judged *judged = environment;
	const char *value = plan_variable(judged->plan, name);
	const char *kind;

	if (value || !reasons_list_has(&judged->reasons.needed, name))
		return value;
	value = facts_variable(judged->facts, name);
	return value && !server_value_is_secret(name, value) &&
			       secret_variable(name, value, &kind) == SECRET_NONE &&
			       !secret_text(name, value) && !secret_random_part(value)
		       ? value
		       : NULL;
}

// Expands the references in a text with the variables of the box. Adds those that only the host
// has. Without the variable on the host, the server does not get it outside either.
static const char *expand(struct judged *judged, const json_t *value, strings *missing)
{
	strings unset = { 0 };
	const char *text = json_string_value(value);
	const char *expanded =
		references_expand(judged->arena, text ? text : "", look_up, judged, &unset);

	vec_each(name, &unset) {
		if (facts_variable(judged->facts, *name) && !reasons_list_has(missing, *name) &&
		    !reasons_list_has(&judged->reasons.needed, *name))
			vec_push(judged->arena, missing, *name);
	}
	return expanded;
}

static void judge_references(struct judged *judged)
{
	static const char *const containers[] = { "args", "env", "headers" };
	strings missing = { 0 };
	const char *key;
	json_t *value;
	size_t k;

	expand(judged, json_object_get(judged->server, "command"), &missing);
	expand(judged, json_object_get(judged->server, "url"), &missing);
	for (size_t i = 0; i < ARRAY_SIZE(containers); i++) {
		json_t *container = json_object_get(judged->server, containers[i]);

		json_array_foreach(container, k, value)
			expand(judged, value, &missing);
		json_object_foreach(container, key, value)
			expand(judged, value, &missing);
	}
	reasons_add_variables(&judged->reasons, judged->arena, "uses a variable", &missing);
}

// Refuses a server whose program or files the box lacks, or whose address it does not reach.
static void judge_place(struct judged *judged, bool by_address)
{
	struct arena *arena = judged->arena;
	json_t *arguments = json_object_get(judged->server, "args");
	command_lacks lacks = { 0 };
	struct command_lack lack;
	strings ignored = { 0 };
	const char *program;
	const char *before = NULL;
	json_t *argument;
	size_t i;

	if (by_address) {
		const char *option;
		const char *why = reach_problem(
			judged->plan, arena,
			expand(judged, json_object_get(judged->server, "url"), &ignored), &option);

		if (why)
			refuse(judged, why, option);
		return;
	}
	program = expand(judged, json_object_get(judged->server, "command"), &ignored);
	if (!command_has_program(judged->plan, arena, judged->facts, program, &lack))
		vec_push(arena, &lacks, lack);
	json_array_foreach(arguments, i, argument) {
		const char *text = expand(judged, argument, &ignored);

		if (command_is_script(program, before))
			command_find_lacks(judged->plan, arena, judged->facts, text, true, &lacks);
		else if (!command_has_file(judged->plan, arena, judged->facts, text, &lack))
			vec_push(arena, &lacks, lack);
		before = text;
	}
	vec_each(row, &lacks)
		refuse(judged, row->why, row->option);
}

// Judges a server, and stores its copy.
static bool judge(struct judged *judged, json_t *server)
{
	const char *type = json_string_value(json_object_get(server, "type"));
	bool by_address = type && (str_equal(type, "http") || str_equal(type, "sse") ||
				   str_equal(type, "streamable-http"));

	if (!json_is_object(server) || json_dumpb(server, NULL, 0, JSON_COMPACT) > LONGEST_SERVER ||
	    json_array_size(json_object_get(server, "args")) > MOST_ARGUMENTS)
		return refuse(judged, "it is not a valid server", NULL);
	if (!by_address && json_object_get(server, "type") && !str_equal(type, "stdio"))
		return refuse(judged, "its type is not known", NULL);
	if (by_address && json_object_get(server, "headersHelper"))
		return refuse(judged, "it runs a program for its headers (headersHelper)", NULL);
	judged->server = server_copy_known(server, by_address);
	if (!judged->server)
		return refuse(judged, "it is not a valid server", NULL);
	// A reason that names a path or a program must not show a secret in it.
	if (!judge_variables(judged) || !judge_secrets(judged))
		return false;
	judge_references(judged);
	judge_place(judged, by_address);
	return !judged->reasons.lacks.count;
}

bool server_can_run(struct plan *plan, struct arena *arena, const struct facts *facts,
		    json_t *server, struct command_lack *ret_lack)
{
	struct judged judged = { .plan = plan, .arena = arena, .facts = facts, .server = server };

	judge_place(&judged, json_object_get(server, "url"));
	*ret_lack = reasons_join(&judged.reasons, arena, plan->config);
	return !judged.reasons.lacks.count;
}

json_t *server_judge(struct plan *plan, struct arena *arena, const struct facts *facts,
		     json_t *server, struct command_lack *ret_lack)
{
	struct judged judged = { .plan = plan, .arena = arena, .facts = facts };

	if (judge(&judged, server)) {
		vec_each(variable, &judged.variables)
			vec_push(arena, &plan->variables, *variable);
		return judged.server;
	}
	*ret_lack = reasons_join(&judged.reasons, arena, plan->config);
	json_decref(judged.server);
	return NULL;
}
