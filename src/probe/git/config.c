// SPDX-License-Identifier: MIT
// Parser for simple git configuration files. It saves the start of git for a name and an e-mail.
//
// Theory of operation: most files contain sections, keys and simple values only. An include, an
// escape sequence, a quotation mark inside a value and a continuation line are not supported: the
// caller then runs git. The parser does not guess.
#include "probe/git/config.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r");
}

static const char *to_lower(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_strndup(arena, text, length);

	for (char *s = copy; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	return copy;
}

// Returns the name of a section in lower case: "core" for "[core]". For "[remote \"x\"]" it returns
// the whole text between the brackets, which no caller searches for. NULL: there is no "]".
static const char *read_section(struct arena *arena, const char *line)
{
	size_t length = strcspn(line + 1, "]");

	return line[1 + length] == ']' ? to_lower(arena, line + 1, length) : NULL;
}

// Returns the value after '=', or NULL when its syntax is not supported.
static const char *read_value(struct arena *arena, const char *s)
{
	size_t length;

	s = skip_blanks(s);
	if (strchr(s, '\\'))
		return NULL;
	if (*s == '"') {
		const char *end = strchr(s + 1, '"');

		if (!end || *skip_blanks(end + 1))
			return NULL;
		return arena_strndup(arena, s + 1, (size_t)(end - s) - 1);
	}
	if (strchr(s, '"'))
		return NULL;
	length = strcspn(s, "#;");
	while (length && strchr(" \t\r", s[length - 1]))
		length--;
	return arena_strndup(arena, s, length);
}

bool git_config_parse(struct arena *arena, const char *text,
		      void (*handle)(void *context, const char *key, const char *value),
		      void *context)
{
	const char *section = "";
	const char *line;

	while ((line = str_next_line(arena, &text))) {
		size_t name;
		const char *rest;
		const char *value = "true";

		line = skip_blanks(line);
		name = strspn(line,
			      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
		rest = skip_blanks(line + name);
		if (*line == '\0' || *line == '#' || *line == ';')
			continue;
		if (*line == '[') {
			section = read_section(arena, line);
			if (!section || str_starts(section, "include") ||
			    *skip_blanks(strchr(line, ']') + 1))
				return false;
			continue;
		}
		if (*rest == '=')
			value = read_value(arena, rest + 1);
		else if (*rest)
			return false;
		if (!name || !value)
			return false;
		handle(context, arena_printf(arena, "%s.%s", section, to_lower(arena, line, name)),
		       value);
	}
	return true;
}
