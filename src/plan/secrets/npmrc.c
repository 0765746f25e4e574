// SPDX-License-Identifier: MIT
// Whether a project's .npmrc has a login.
#include "plan/secrets/npmrc.h"

#include "plan/secrets/detect.h"

#include <string.h>
#include <strings.h>

// Ends of keys with a login: _auth, //host/:_authToken, _password, key. They may have a "[]".
static const char *const login_keys[] = { "_auth", "_authtoken", "_password", "password",
					  "token", "secret",     "key",       "otp" };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\'';
}

// Returns the length of a text without the blanks and quotes at its end.
static size_t trimmed(const char *text, size_t length)
{
	while (length && is_blank(text[length - 1]))
		length--;
	return length;
}

static bool is_login_key(const char *key, size_t length)
{
	if (length > 2 && memcmp(key + length - 2, "[]", 2) == 0)
		length -= 2;
	for (size_t i = 0; i < sizeof(login_keys) / sizeof(*login_keys); i++) {
		size_t end = strlen(login_keys[i]);

		if (length >= end && strncasecmp(key + length - end, login_keys[i], end) == 0)
			return true;
	}
	return false;
}

// Returns whether a value has nothing but one variable: "${NAME}", "${NAME-}", "${NAME?}".
static bool is_variable(const char *value, size_t length)
{
	return length > 3 && value[0] == '$' && value[1] == '{' &&
	       (const char *)memchr(value, '}', length) == value + length - 1;
}

// Returns whether a line assigns a login.
static bool has_login(const char *line, size_t length)
{
	const char *equals = memchr(line, '=', length);
	const char *value = equals ? equals + 1 : NULL;
	size_t rest;

	if (!equals || *line == '#' || *line == ';' ||
	    !is_login_key(line, trimmed(line, (size_t)(equals - line))))
		return false;
	rest = length - (size_t)(value - line);
	for (; rest && is_blank(*value); rest--)
		value++;
	rest = trimmed(value, rest);
	return rest && !is_variable(value, rest);
}

bool secret_npmrc(const char *text)
{
	size_t start;
	size_t length;

	for (const char *line = text; *line; line += *line == '\n') {
		size_t blanks = strspn(line, " \t\"'");
		size_t end = strcspn(line, "\n");

		if (blanks < end && has_login(line + blanks, end - blanks))
			return true;
		line += end;
	}
	return secret_find(text, &start, &length) != NULL;
}
