// SPDX-License-Identifier: MIT
// Reads git's configuration files as far as they are plain, which saves starting git for a name and an e-mail.
//
// Theory of operation: sections, keys and simple values are all that most files have. An include, an escape, a quote
// in the middle or a continued line means that git itself is to be asked; nothing is guessed.
#include "probe/git/config.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r");
}

static const char *lower(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_strndup(arena, text, length);

	for (char *s = copy; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	return copy;
}

// "[core]" gives "core"; "[remote \"x\"]" gives what is not asked for and not confused with "remote".
static const char *read_section(struct arena *arena, const char *line)
{
	size_t length = strcspn(line + 1, "]");

	return line[1 + length] == ']' ? lower(arena, line + 1, length) : NULL;
}

// The value after '='; NULL when it is not plain.
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

bool probe_git_config(struct arena *arena, const char *text,
		      void (*take)(void *context, const char *key, const char *value),
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
		take(context, arena_printf(arena, "%s.%s", section, lower(arena, line, name)),
		     value);
	}
	return true;
}
