// SPDX-License-Identifier: MIT
// Parsers of files with a setting in each line.
#include "plan/registries/lines.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"

#include <ctype.h>
#include <string.h>

static const char blanks[] = " \t\f";

// Returns the name of a section "[name]", NULL: the line is none.
static const char *read_section(struct arena *arena, const char *line)
{
	const char *end = strrchr(line, ']');

	return end && !end[1] ? setting_trim(arena, line + 1, (size_t)(end - line) - 1) : NULL;
}

// Returns a value of .npmrc without quotation marks, or without the comment behind it.
static const char *npmrc_value(struct arena *arena, const char *text)
{
	const char *value = setting_trim(arena, text, strlen(text));
	size_t length = strlen(value);

	if (length > 1 && (*value == '"' || *value == '\'') && value[length - 1] == *value)
		return arena_strndup(arena, value + 1, length - 2);
	return setting_trim(arena, value, strcspn(value, ";#"));
}

bool npmrc_parse(struct parsed *parsed, const char *text)
{
	struct setting_step steps[2] = { 0 };
	size_t depth = 1;
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		size_t key = strcspn(line += strspn(line, blanks), "=");
		struct setting *setting;
		const char *name;

		if (!*line || *line == ';' || *line == '#')
			continue;
		if (*line == '[') {
			steps[0].name = read_section(parsed->arena, line);
			depth = 2;
			if (!steps[0].name)
				return false;
			continue;
		}
		name = npmrc_value(parsed->arena, arena_strndup(parsed->arena, line, key));
		steps[depth - 1].name =
			str_ends(name, "[]") ? arena_strndup(parsed->arena, name, strlen(name) - 2)
					     : name;
		setting = setting_add(parsed, steps, depth,
				      line[key] ? npmrc_value(parsed->arena, line + key + 1)
						: "true");
		if (!setting)
			return false;
		setting->list = str_ends(name, "[]");
	}
	return true;
}

bool variables_parse(struct parsed *parsed, const char *text)
{
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		size_t key = strcspn(line, "=");
		struct setting_step step = { .name = arena_strndup(parsed->arena, line, key) };

		if (!*line || *line == '#')
			continue;
		if (!line[key] || !setting_add(parsed, &step, 1, line + key + 1))
			return false;
	}
	return true;
}

// pip treats index_url and Index-URL alike.
static const char *pip_key(struct arena *arena, const char *text, size_t length)
{
	const char *key = setting_trim(arena, text, length);
	char *copy = arena_strdup(arena, str_starts(key, "--") ? key + 2 : key);

	for (char *s = copy; *s; s++)
		*s = (char)(*s == '_' ? '-' : tolower((unsigned char)*s));
	return copy;
}

// Adds the words of a value to a setting.
static void add_words(struct arena *arena, struct setting *setting, const char *text)
{
	while (*(text += strspn(text, blanks))) {
		size_t length = strcspn(text, blanks);

		vec_push(arena, &setting->values, arena_strndup(arena, text, length));
		text += length;
	}
	setting->list = setting->values.count != 1;
}

bool pip_parse(struct parsed *parsed, const char *text)
{
	struct setting_step steps[2] = { 0 };
	struct setting *setting = NULL;
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		bool indented = strchr(blanks, *line) && *line;
		size_t key;

		line += strspn(line, blanks);
		if (!*line || *line == '#' || *line == ';')
			continue;
		if (indented && setting) {
			add_words(parsed->arena, setting, line);
			continue;
		}
		if (*line == '[') {
			steps[0].name = read_section(parsed->arena, line);
			setting = NULL;
			if (!steps[0].name)
				return false;
			continue;
		}
		key = strcspn(line, "=:");
		steps[1].name = pip_key(parsed->arena, line, key);
		if (!line[key] || !steps[0].name ||
		    !(setting = setting_add(parsed, steps, 2, NULL)))
			return false;
		add_words(parsed->arena, setting, line + key + 1);
	}
	return true;
}

// Returns whether a line of Java properties continues in the next one.
static bool continues(const char *line)
{
	size_t count = 0;

	for (size_t i = strlen(line); i && line[i - 1] == '\\'; i--)
		count++;
	return count % 2;
}

// Returns the text up to one of the characters in `ends`, with its escapes resolved, and moves the
// cursor to that character.
static const char *read_escaped(struct arena *arena, const char **cursor, const char *ends)
{
	struct text out = { .arena = arena };
	const char *s = *cursor;

	while (*s && !strchr(ends, *s)) {
		s += *s == '\\';
		if (*s)
			text_add_bytes(&out, s++, 1);
	}
	*cursor = s;
	return text_get(&out);
}

bool properties_parse(struct parsed *parsed, const char *text)
{
	char *line;

	while ((line = setting_next_line(parsed, &text))) {
		struct text joined = { .arena = parsed->arena };
		const char *s = line + strspn(line, blanks);
		struct setting_step step;

		if (!*s || *s == '#' || *s == '!')
			continue;
		text_add(&joined, s);
		while (continues(s) && (line = setting_next_line(parsed, &text))) {
			joined.data[--joined.length] = '\0';
			text_add(&joined, s = line + strspn(line, blanks));
		}
		s = text_get(&joined);
		step = (struct setting_step){ .name = read_escaped(parsed->arena, &s, "=: \t\f") };
		s += strspn(s, blanks);
		s += *s == '=' || *s == ':';
		s += strspn(s, blanks);
		if (!setting_add(parsed, &step, 1, read_escaped(parsed->arena, &s, "")))
			return false;
	}
	return true;
}

// Returns the next word of a line of .yarnrc, NULL: there is none, or it has no end.
static const char *yarnrc_word(struct arena *arena, const char **cursor)
{
	const char *s = *cursor + strspn(*cursor, blanks);
	bool quoted = *s == '"';
	size_t length = strcspn(s += quoted, quoted ? "\"" : " \t");

	if ((quoted && s[length] != '"') || (!quoted && !length))
		return NULL;
	*cursor = s + length + quoted;
	return arena_strndup(arena, s, length);
}

bool yarnrc_parse(struct parsed *parsed, const char *text)
{
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		struct setting_step step = { 0 };
		const char *value;

		if (!*line || *line == '#')
			continue;
		step.name = strchr(blanks, *line) ? NULL : yarnrc_word(parsed->arena, &line);
		value = step.name ? yarnrc_word(parsed->arena, &line) : NULL;
		if (!value || line[strspn(line, blanks)] || !setting_add(parsed, &step, 1, value))
			return false;
	}
	return true;
}
