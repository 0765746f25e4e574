// SPDX-License-Identifier: MIT
// Reads the members of a JSON object one by one, without a tree of the values.
#include "base/json_skim.h"

#include "base/arena.h"
#include "base/json.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, blanks);
}

// Returns the place behind the string that starts at `s`, NULL: it has no end.
static const char *skip_string(const char *s)
{
	while (*(s += 1 + strcspn(s + 1, "\"\\")) == '\\' && s[1])
		s++;
	return *s == '"' ? s + 1 : NULL;
}

// Returns the place behind the object or array that starts at `s`, NULL: it has no end.
static const char *skip_container(const char *s)
{
	size_t depth = 0;

	while (s) {
		s += strcspn(s, "\"{}[]");
		if (*s == '"') {
			s = skip_string(s);
			continue;
		}
		if (!*s)
			return NULL;
		depth += *s == '{' || *s == '[' ? 1 : (size_t)-1;
		s++;
		if (!depth)
			return s;
	}
	return NULL;
}

static const char *skip_value(const char *s)
{
	if (*s == '"')
		return skip_string(s);
	if (*s == '{' || *s == '[')
		return skip_container(s);
	return s + strcspn(s, ",}] \t\r\n");
}

struct json_skim json_skim_start(const char *text)
{
	const char *start = text ? skip_blanks(text) : "";

	return (struct json_skim){ .at = *start == '{' ? start + 1 : NULL };
}

bool json_skim_next(struct json_skim *skim, struct json_member *ret_member)
{
	const char *s = skim->at ? skip_blanks(skim->at) : NULL;
	const char *end;

	skim->at = NULL;
	if (!s)
		return false;
	if (*s == '}') {
		skim->complete = true;
		return false;
	}
	if (skim->started)
		s = *s == ',' ? skip_blanks(s + 1) : "";
	end = *s == '"' ? skip_string(s) : NULL;
	if (!end)
		return false;
	*ret_member = (struct json_member){ .key = s + 1, .key_length = (size_t)(end - s) - 2 };
	s = skip_blanks(end);
	if (*s != ':')
		return false;
	s = skip_blanks(s + 1);
	end = skip_value(s);
	if (!end || end == s)
		return false;
	ret_member->value = s;
	ret_member->value_length = (size_t)(end - s);
	skim->started = true;
	skim->at = end;
	return true;
}

bool json_skim_is(const struct json_member *member, const char *key)
{
	return strlen(key) == member->key_length &&
	       memcmp(key, member->key, member->key_length) == 0;
}

json_t *json_skim_value(struct arena *arena, const struct json_member *member, size_t longest)
{
	const char *text = member->value_length <= longest
				   ? arena_strndup(arena, member->value, member->value_length)
				   : NULL;

	return text && !json_too_many_values(text) ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}
