// SPDX-License-Identifier: MIT
// Secrets in the configuration of an MCP server.
#include "plan/mcp/secrets.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/detect.h"
#include "plan/secrets/values.h"

#include <string.h>
#include <strings.h>

enum { SHORTEST = 4 };

// Returns whether a name, or the word of which it is the plural, is that of a secret. The detector
// does not count "tokens", because settings of models have numbers of them.
static bool is_secret_name(const char *name)
{
	size_t length = strlen(name);
	const char *kind;

	return secret_name(name) || (length > 1 && strchr("sS", name[length - 1]) &&
				     name_judge(name, length - 1, &kind) != NAME_HARMLESS);
}

bool server_value_is_secret(const char *name, const char *value)
{
	return is_secret_name(name) && strlen(value) >= SHORTEST &&
	       !value_is_harmless(value, strlen(value)) &&
	       !(value[strspn(value, "0123456789")] == '\0' && !secret_name(name));
}

bool server_default_is_secret(struct arena *arena, const char *text)
{
	while ((text = strstr(text, "${"))) {
		const char *inside = arena_strndup(arena, text + 2, strcspn(text + 2, "}"));
		const char *fallback = strstr(inside, ":-");

		if (fallback && server_value_is_secret(arena_strndup(arena, inside,
								     (size_t)(fallback - inside)),
						       fallback + 2))
			return true;
		text += 2;
	}
	return false;
}

// Returns whether a text has the header of a login with a value that is no reference.
static bool has_authorization(const char *text)
{
	static const char *const schemes[] = { "Bearer", "Basic", "Token" };

	while ((text = strcasestr(text, "authorization"))) {
		text += strlen("authorization");
		text += strspn(text, "\"'\\");
		if (*text != ':' && *text != '=')
			continue;
		text += 1 + strspn(text + 1, " \"'\\");
		for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
			if (strncasecmp(text, schemes[i], strlen(schemes[i])) == 0)
				text += strlen(schemes[i]);
		text += strspn(text, " ");
		if (*text && !strchr("$\"'\\", *text))
			return true;
	}
	return false;
}

bool server_argument_is_secret(const char *before, const char *argument)
{
	const char *equals = argument[0] == '-' ? strchr(argument, '=') : NULL;
	char name[64] = "";

	if (has_authorization(argument))
		return true;
	if (equals && (size_t)(equals - argument) < sizeof(name)) {
		memcpy(name, argument, (size_t)(equals - argument));
		before = name;
		argument = equals + 1;
	}
	if (!before || before[0] != '-' || argument[0] == '-')
		return false;
	if (str_equal(before, "-H") || str_equal(before, "--header") ||
	    str_equal(before, "--headers"))
		return secret_text("HEADERS", argument) != NULL;
	return server_value_is_secret(before, argument);
}
