// SPDX-License-Identifier: MIT
// Parser for the part of TOML that settings of package managers use.
//
// Theory of operation: tables, arrays of tables, keys with dots, strings without escapes, numbers,
// booleans, and arrays of strings over any number of lines. The value of an inline table or of a
// string with escapes is unreadable. A string over several lines makes the whole file unreadable,
// because its lines may look like settings.
#include "plan/registries/toml.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

static bool is_end(const char *s)
{
	s = skip_blanks(s);
	return !*s || *s == '#';
}

// Returns the length of the string at `s` with its quotation marks, 0: it has no end. Stores
// whether it has an escape.
static size_t string_length(const char *s, bool *ret_escape)
{
	size_t i = 1;

	*ret_escape = false;
	for (; s[i] && s[i] != *s; i++)
		if (*s == '"' && s[i] == '\\' && s[i + 1]) {
			*ret_escape = true;
			i++;
		}
	return s[i] ? i + 1 : 0;
}

// Reads the parts of a key, a."b c".d, and moves the cursor behind it.
static bool read_key(struct arena *arena, const char **cursor, struct setting_step *steps,
		     size_t *depth)
{
	const char *s = *cursor;
	bool escape = false;

	do {
		size_t length;
		bool quoted;

		s = skip_blanks(s);
		quoted = *s == '"' || *s == '\'';
		for (length = 0; !quoted && (isalnum((unsigned char)s[length]) ||
					     s[length] == '_' || s[length] == '-');)
			length++;
		if (quoted)
			length = string_length(s, &escape);
		if (!length || escape || *depth == MOST_STEPS)
			return false;
		steps[(*depth)++] = (struct setting_step){
			.name = arena_strndup(arena, s + quoted, length - 2 * (size_t)quoted)
		};
		s = skip_blanks(s + length);
	} while (*s++ == '.');
	*cursor = s - 1;
	return true;
}

// Reads "[table]" or "[[table]]"; the number of an array's table is that of its line.
static bool read_table(struct parsed *parsed, const char *s, struct setting_step *steps,
		       size_t *depth)
{
	bool array = s[1] == '[';

	*depth = 0;
	s += 1 + array;
	if (!read_key(parsed->arena, &s, steps, depth) || *s != ']' || (array && s[1] != ']'))
		return false;
	if (array)
		steps[*depth - 1].number = (unsigned int)parsed->line;
	return is_end(s + 1 + array);
}

// Reads a string, number or boolean into the setting, and moves the cursor behind it.
static bool read_scalar(struct arena *arena, struct setting *setting, const char **cursor)
{
	const char *s = *cursor;
	bool escape = false;
	size_t length;

	if (str_starts(s, "\"\"\"") || str_starts(s, "'''"))
		return false;
	if (*s == '"' || *s == '\'') {
		length = string_length(s, &escape);
		if (!length)
			return false;
		vec_push(arena, &setting->values, arena_strndup(arena, s + 1, length - 2));
		setting->unreadable |= escape || setting->plain; // or an array of both kinds
	} else {
		length = strcspn(s, " \t,]#");
		if (!length || strpbrk(arena_strndup(arena, s, length), "\"'{}[="))
			return false;
		setting->unreadable |= setting->values.count && !setting->plain;
		vec_push(arena, &setting->values, arena_strndup(arena, s, length));
		setting->plain = true;
	}
	*cursor = s + length;
	return true;
}

// Reads an array, which may go on in the following lines. Arrays in arrays, and tables in arrays,
// are not supported.
static bool read_array(struct parsed *parsed, struct setting *setting, const char *s,
		       const char **text)
{
	bool value_allowed = true;

	setting->list = true;
	for (s++;; s = skip_blanks(s)) {
		s = skip_blanks(s);
		if (!*s || *s == '#') {
			s = setting_next_line(parsed, text);
			if (!s)
				return false;
		} else if (*s == ']') {
			return is_end(s + 1);
		} else if (*s == ',' && !value_allowed) {
			value_allowed = true;
			s++;
		} else if (!value_allowed || *s == ',' ||
			   !read_scalar(parsed->arena, setting, &s)) {
			return false;
		} else {
			value_allowed = false;
		}
	}
}

// Returns whether an inline table ends in its line. It has to, and its value is unreadable.
static bool skip_inline_table(const char *s)
{
	int depth = 0;
	bool escape;

	for (; *s; s++) {
		if (*s == '"' || *s == '\'') {
			size_t length = string_length(s, &escape);

			if (!length)
				return false;
			s += length - 1;
		} else if (*s == '#') {
			return false;
		} else if (*s == '{' || *s == '[') {
			depth++;
		} else if ((*s == '}' || *s == ']') && --depth == 0) {
			return is_end(s + 1);
		}
	}
	return false;
}

static bool read_setting(struct parsed *parsed, const char *s, struct setting_step *steps,
			 size_t depth, const char **text)
{
	struct setting *setting;

	if (!read_key(parsed->arena, &s, steps, &depth) || *s != '=')
		return false;
	setting = setting_add(parsed, steps, depth, NULL);
	s = skip_blanks(s + 1);
	if (!setting)
		return false;
	setting->unreadable = *s == '{';
	if (*s == '{')
		return skip_inline_table(s);
	if (*s == '[')
		return read_array(parsed, setting, s, text);
	return read_scalar(parsed->arena, setting, &s) && is_end(s);
}

bool toml_parse(struct parsed *parsed, const char *text)
{
	struct setting_step steps[MOST_STEPS] = { 0 };
	size_t table = 0;
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		line = skip_blanks(line);
		if (!*line || *line == '#')
			continue;
		if (*line == '[' ? !read_table(parsed, line, steps, &table)
				 : !read_setting(parsed, line, steps, table, &text))
			return false;
	}
	return true;
}
