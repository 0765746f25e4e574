// SPDX-License-Identifier: MIT
// Removes secrets from JSON: the user's settings, configuration of plugins, company policy.
//
// Theory of operation: a string with a secret is removed as a whole, because a part of a command or
// of an address is of no use. Claude rejects a hook without its command and a server without its
// address, and may ignore the whole file, so such an object is removed with its string.
#include "plan/claude/clean.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/headers.h"
#include "plan/mcp/references.h"
#include "plan/secrets/detect.h"

#include <string.h>
#include <strings.h>

enum { SHOWN_KEY = 60 };
// Bounds, so that a file costs no quadratic time.
enum { MAX_ARGUMENTS = 64, MAX_LINE = 4096 };

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

struct cleaning {
	struct arena *arena;
	enum clean_mode mode;
	strings *removed;
};

static bool clean_value(struct cleaning *cleaning, json_t *value, const char *name,
			const char *where);

// Returns the text without references to variables: $NAME and ${NAME}. Of ${NAME:-default} the
// default stays, because it is a literal value.
static const char *without_references(struct arena *arena, const char *text)
{
	static const char name_bytes[] = LETTERS "_0123456789";
	struct text out = { .arena = arena };

	while (*text) {
		size_t plain = strcspn(text, "$");
		const char *next = text + plain;

		text_add_bytes(&out, text, plain);
		if (*next == '$') {
			bool braces = next[1] == '{';
			const char *end = next + 1 + braces;

			end += strspn(end, name_bytes);
			if (braces && str_starts(end, ":-"))
				end += 2;
			next = end + (braces && *end == '}');
		}
		text = next;
	}
	return text_get(&out);
}

const char *clean_judge(enum clean_mode mode, const char *name, const char *text)
{
	return mode == CLEAN_DATA ? secret_data(name, text) : secret_text(name, text);
}

// Judges a text as it is, and with the defaults of its references in place.
static bool is_secret(const struct cleaning *cleaning, const char *name, const char *text)
{
	const char *full = strstr(text, "${") ? references_defaults(cleaning->arena, text) : text;

	return clean_judge(cleaning->mode, name, text) ||
	       (full != text && clean_judge(cleaning->mode, name, full));
}

// Removes the user part of an address, if no other part of it is a secret. Returns whether it did.
static bool clean_address(struct cleaning *cleaning, json_t *value, const char *name)
{
	const char *text = json_string_value(value);
	size_t scheme = strspn(text, LETTERS "0123456789+.-");
	const char *authority = str_after(text + scheme, "://");
	size_t length = authority ? strcspn(authority, "/?# \t\"'") : 0;
	const char *at = authority ? memrchr(authority, '@', length) : NULL;
	const char *cleaned;

	if (!at || !scheme)
		return false;
	cleaned = arena_printf(cleaning->arena, "%.*s%s", (int)(authority - text), text, at + 1);
	return !is_secret(cleaning, name, cleaned) && json_string_set(value, cleaned) == 0;
}

// Returns whether a header contains no credentials: a known one with a value of its usual form, or
// one whose value is a reference to a variable. Services choose the names of the headers for their
// keys freely.
static bool header_is_harmless(struct arena *arena, const char *name, const json_t *value)
{
	static const char *const schemes[] = { "", "Bearer", "Basic", "Token", "token" };
	const char *text = json_string_value(value);
	const char *literal = text ? without_references(arena, text) : NULL;

	if (literal && header_is_usual(name, literal) && !secret_value(text))
		return true;
	for (size_t i = 0; literal && i < ARRAY_SIZE(schemes); i++) {
		const char *rest = str_after(literal, schemes[i]);

		if (rest && rest[strspn(rest, " ")] == '\0')
			return true;
	}
	return false;
}

// Returns whether an object is of no use without this member.
static bool is_essential(const char *key)
{
	return str_equal(key, "command") || str_equal(key, "url") || str_equal(key, "prompt");
}

static void clean_headers(struct cleaning *cleaning, json_t *headers, const char *where)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(headers, next, name, value) {
		if (header_is_harmless(cleaning->arena, name, value))
			continue;
		vec_push(cleaning->arena, cleaning->removed,
			 secret_value(name)
				 ? arena_printf(cleaning->arena, "a header in %s", where)
				 : arena_printf(cleaning->arena, "%s.%s", where,
						quote_word(cleaning->arena, name, SHOWN_KEY)));
		json_object_del(headers, name);
	}
}

// Returns the name that another member gives to "value": { "name": "DB_PASSWORD", "value": … }.
static const char *name_of_value(const json_t *object, const char *key)
{
	static const char *const members[] = { "name", "key", "variable" };

	for (size_t i = 0; str_equal(key, "value") && i < ARRAY_SIZE(members); i++) {
		const char *name = json_string_value(json_object_get(object, members[i]));

		if (name)
			return name;
	}
	return key;
}

// Returns whether the address of an MCP server has a long random part in its path, which is the
// login of many services.
static bool is_secret_address(const json_t *server, const char *key, const char *where,
			      const json_t *value)
{
	const char *type = json_string_value(json_object_get(server, "type"));
	const char *text = json_string_value(value);
	const char *path = text && strstr(text, "://") ? strchr(strstr(text, "://") + 3, '/')
						       : NULL;

	return path && str_equal(key, "url") && secret_random_part(path) &&
	       (strcasestr(where, "mcpServers") ||
		(type && (str_equal(type, "http") || str_equal(type, "sse"))));
}

// Replaces the secrets in a rule by '*', so that a rule that forbids something stays. A rule that
// cannot be masked so ends where its secret starts.
static void mask_rule(struct cleaning *cleaning, json_t *rule)
{
	struct text out = { .arena = cleaning->arena };
	const char *text = json_string_value(rule);
	const char *rest = text;
	const char *masked;
	size_t first = 0;
	size_t start;
	size_t length;

	while (secret_find(rest, &start, &length)) {
		first = out.length ? first : start;
		text_add_bytes(&out, rest, start);
		text_add(&out, "*");
		rest += start + length;
	}
	text_add(&out, rest);
	masked = text_get(&out);
	if (is_secret(cleaning, NULL, masked))
		masked = arena_printf(cleaning->arena, "%.*s*%s", (int)first, text,
				      memchr(text, '(', first) ? ")" : "");
	json_string_set(rule, masked);
}

// Removes the arguments that are secrets of the program "command": ["-pVALUE"] of mysql.
static void clean_arguments(struct cleaning *cleaning, json_t *object, const char *where)
{
	struct arena *arena = cleaning->arena;
	json_t *arguments = json_object_get(object, "args");
	const char *line = json_string_value(json_object_get(object, "command"));
	size_t at = 0;

	for (size_t i = 0; line && i < MAX_ARGUMENTS && at < json_array_size(arguments); i++) {
		const char *argument = json_string_value(json_array_get(arguments, at));
		const char *longer = arena_printf(arena, "%s %s", line, argument ? argument : "-");
		size_t start;
		size_t length;

		if (argument && strlen(longer) < MAX_LINE && secret_find(longer, &start, &length) &&
		    start > strlen(line)) {
			vec_push(arena, cleaning->removed,
				 arena_printf(arena, "%s%sargs[%zu]", where, *where ? "." : "", i));
			json_array_remove(arguments, at);
			continue;
		}
		line = longer;
		at++;
	}
}

// Removes the members that are secrets. Returns whether the object itself must go.
static bool clean_object(struct cleaning *cleaning, json_t *object, const char *where)
{
	struct arena *arena = cleaning->arena;
	bool configuration = cleaning->mode == CLEAN_CONFIGURATION;
	bool useless = false;
	const char *key;
	json_t *member;
	void *next;

	if (configuration)
		clean_arguments(cleaning, object, where);
	json_object_foreach_safe(object, next, key, member) {
		const char *path = arena_printf(arena, "%s%s%s", where, *where ? "." : "",
						quote_word(arena, key, SHOWN_KEY));

		if (secret_value(key)) {
			vec_push(arena, cleaning->removed,
				 *where ? arena_printf(arena, "a key in %s", where) : "a key");
			json_object_del(object, key);
			continue;
		}
		if (configuration && str_equal(key, "headers") && json_is_object(member)) {
			clean_headers(cleaning, member, path);
			continue;
		}
		if (!clean_value(cleaning, member, name_of_value(object, key), path) &&
		    !(configuration && str_equal(key, "headersHelper")) &&
		    !(configuration && is_secret_address(object, key, path, member)))
			continue;
		if (is_essential(key) && *where)
			useless = true;
		else
			vec_push(arena, cleaning->removed, path);
		json_object_del(object, key);
	}
	return useless;
}

// Removes the elements that are secrets. An element after an option such as "--token" is judged by
// the name of that option.
static void clean_array(struct cleaning *cleaning, json_t *array, const char *name,
			const char *where)
{
	const char *option = NULL;
	bool rules = str_equal(where, "permissions.deny") || str_equal(where, "permissions.ask");
	size_t at = 0;

	for (size_t i = 0; at < json_array_size(array); i++) {
		json_t *member = json_array_get(array, at);
		const char *path = arena_printf(cleaning->arena, "%s[%zu]", where, i);
		const char *text = json_string_value(member);
		bool is_option = text && text[0] == '-' && !strchr(text, '=');
		// The element can be freed below.
		const char *following =
			is_option ? arena_strdup(cleaning->arena, text + strspn(text, "-")) : NULL;

		if (rules && text && is_secret(cleaning, NULL, text)) {
			vec_push(cleaning->arena, cleaning->removed,
				 arena_printf(cleaning->arena, "the secret in %s", path));
			mask_rule(cleaning, member);
			at++;
		} else if (clean_value(cleaning, member, option ? option : name, path)) {
			vec_push(cleaning->arena, cleaning->removed, path);
			json_array_remove(array, at);
		} else {
			at++;
		}
		option = following;
	}
}

// Removes the secrets in a value. Returns whether the value itself must go.
static bool clean_value(struct cleaning *cleaning, json_t *value, const char *name,
			const char *where)
{
	if (json_is_string(value)) {
		if (!is_secret(cleaning, name, json_string_value(value)))
			return false;
		if (!clean_address(cleaning, value, name))
			return true;
		vec_push(cleaning->arena, cleaning->removed,
			 arena_printf(cleaning->arena, "the user part of %s", where));
		return false;
	}
	if (json_is_array(value))
		clean_array(cleaning, value, name, where);
	return json_is_object(value) && clean_object(cleaning, value, where);
}

void clean_policy_helpers(struct arena *arena, json_t *object, strings *removed)
{
	static const char *const helpers[] = { "apiKeyHelper",    "awsAuthRefresh",
					       "gcpAuthRefresh",  "awsCredentialExport",
					       "proxyAuthHelper", "otelHeadersHelper" };

	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (json_object_del(object, helpers[i]) == 0)
			vec_push(arena, removed, helpers[i]);
}

void clean_json(struct arena *arena, json_t *object, enum clean_mode mode, strings *removed)
{
	struct cleaning cleaning = { .arena = arena, .mode = mode, .removed = removed };

	clean_object(&cleaning, object, "");
}
