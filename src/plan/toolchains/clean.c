// SPDX-License-Identifier: MIT
// Removes secrets from settings of toolchain managers.
//
// Theory of operation: TOML is read line by line, and a line passes only if it is understood as a
// whole: a key and a value that ends on it. A string over several lines is skipped up to its end.
// Anything else ends the copy, because what follows could be a part of it: a line "[tools]" in a
// text is no table.
#include "plan/toolchains/clean.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/detect.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BLANKS " \t\r"
#define BARE   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

enum { MAX_DEPTH = 4 };

struct filter {
	struct arena *arena;
	const char *sections;
	bool wanted;           // the lines of this table pass
	bool stopped;          // a line was not understood
	const char *delimiter; // of a string over several lines; NULL: in none
};

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, BLANKS);
}

static bool is_word(const char *words, const char *text, size_t length)
{
	for (const char *s = words; *s;) {
		size_t word = strcspn(s, " ");

		if (word == length && strncmp(s, text, length) == 0)
			return true;
		s += word + strspn(s + word, " ");
	}
	return false;
}

// Returns the delimiter of a string over several lines that starts here; NULL: none does.
static const char *find_delimiter(const char *s)
{
	if (str_starts(s, "\"\"\""))
		return "\"\"\"";
	return str_starts(s, "'''") ? "'''" : NULL;
}

// Returns the end of a string that starts here; NULL: it does not end on this line.
static const char *skip_string(const char *s)
{
	char quote = *s;

	if (find_delimiter(s))
		return NULL;
	for (s++; *s && *s != quote; s++)
		if (*s == '\\' && quote == '"' && !*++s)
			return NULL;
	return *s ? s + 1 : NULL;
}

// Returns the end of a key such as a."b".c; NULL: it is not understood. Sets `ret_variables` if a
// step of it names variables or paths of other projects.
static const char *skip_key(const char *s, bool *ret_variables)
{
	for (;; s++) {
		bool quoted = *s == '"' || *s == '\'';
		const char *end = quoted ? skip_string(s) : s + strspn(s, BARE);
		const char *text = s + quoted;
		size_t length = end ? (size_t)(end - text) - quoted : 0;

		if (!length || memchr(text, '\\', length))
			return NULL;
		*ret_variables |= is_word("env install_env vars overrides", text, length);
		s = skip_blanks(end);
		if (*s != '.')
			return s;
		s += strspn(s + 1, BLANKS);
	}
}

static const char *skip_value(const char *s, int depth, bool *ret_variables);

// Returns the end of an array or inline table on this line; NULL: it is not understood. It recurses
// at most MAX_DEPTH times. NOLINTNEXTLINE(misc-no-recursion)
static const char *skip_group(const char *s, int depth, bool *ret_variables)
{
	bool table = *s == '{';
	char close = table ? '}' : ']';

	for (s = skip_blanks(s + 1); *s != close;) {
		if (table) {
			s = skip_key(s, ret_variables);
			if (!s || *s != '=')
				return NULL;
			s = skip_blanks(s + 1);
		}
		s = skip_value(s, depth + 1, ret_variables);
		if (!s)
			return NULL;
		s = skip_blanks(s);
		if (*s == ',')
			s = skip_blanks(s + 1);
		else if (*s != close)
			return NULL;
	}
	return s + 1;
}

// Returns the end of a value; NULL: it does not end on this line.
// NOLINTNEXTLINE(misc-no-recursion)
static const char *skip_value(const char *s, int depth, bool *ret_variables)
{
	size_t length;

	if (*s == '"' || *s == '\'')
		return skip_string(s);
	if (*s == '[' || *s == '{')
		return depth < MAX_DEPTH ? skip_group(s, depth, ret_variables) : NULL;
	length = strspn(s, BARE "+.:");
	return length ? s + length : NULL;
}

static bool is_end(const char *s)
{
	s = skip_blanks(s);
	return !*s || *s == '#';
}

// Reads the name of a table, "[a.b]" or "[[a]]". Returns the end; NULL: it is not understood.
static const char *read_table(struct filter *filter, const char *line)
{
	bool list = line[1] == '[';
	const char *name = skip_blanks(line + 1 + list);
	const char *first = name + (*name == '"' || *name == '\'');
	bool variables = false;
	const char *end = skip_key(name, &variables);

	if (!end || !str_starts(end, list ? "]]" : "]") || !is_end(end + 1 + list))
		return NULL;
	filter->wanted = !list && !variables &&
			 is_word(filter->sections, first, strspn(first, BARE));
	return end + 1;
}

// Reads a key and its value. Returns the end if the line passes. A line that is not understood
// stops the filter.
static const char *read_setting(struct filter *filter, const char *line)
{
	bool variables = false;
	const char *key = skip_key(line, &variables);
	const char *value = key && *key == '=' ? skip_blanks(key + 1) : NULL;
	const char *delimiter = value ? find_delimiter(value) : NULL;
	const char *end;

	if (delimiter) {
		const char *closing = strstr(value + 3, delimiter);

		filter->delimiter = closing ? NULL : delimiter;
		filter->stopped = closing && (strchr(value, '\\') || !is_end(closing + 3));
		return NULL;
	}
	end = value ? skip_value(value, 0, &variables) : NULL;
	filter->stopped = !end || !is_end(end);
	return filter->stopped || variables || !filter->wanted ? NULL : end;
}

// Skips a line of a string over several lines.
static void read_text(struct filter *filter, const char *line)
{
	const char *closing = strstr(line, filter->delimiter);

	if (!closing)
		return;
	filter->stopped = strchr(line, '\\') || !is_end(closing + 3);
	filter->delimiter = NULL;
}

// Returns what passes of a line; NULL: nothing.
static const char *filter_line(struct filter *filter, const char *line)
{
	const char *start = skip_blanks(line);
	const char *end = NULL;

	if (filter->stopped)
		return NULL;
	if (filter->delimiter) {
		read_text(filter, line);
	} else if (*start == '[') {
		end = read_table(filter, start);
		filter->stopped = !end;
		end = filter->wanted ? end : NULL;
	} else {
		end = read_setting(filter, start);
	}
	return end ? arena_strndup(filter->arena, start, (size_t)(end - start)) : NULL;
}

// Returns whether a line of TOML may have an address with a login. Programs read odd spellings in
// different ways, and an escape can stand for any character, so both are refused.
static bool has_login(const char *line)
{
	const char *address = strstr(line, ":/");

	if (strchr(line, '\\'))
		return true;
	address = address ? address : strstr(line, "//");
	return address &&
	       (strchr(address, '@') || strcasestr(address, "%40") || strcasestr(address, "%25"));
}

const char *toolchain_clean_settings(struct arena *arena, const char *text, const char *sections,
				     bool *ret_shortened)
{
	struct filter filter = { .arena = arena, .sections = sections };
	struct text out = { .arena = arena };
	const char *line;

	filter.wanted = sections && is_word(sections, ".", 1);
	*ret_shortened = false;
	while ((line = str_next_line(arena, &text))) {
		size_t at, length;

		// Empty lines and comments have no effect.
		if (sections && !filter.delimiter && is_end(line))
			continue;
		if (sections)
			line = filter_line(&filter, line);
		if (line && !(sections && has_login(line)) && !secret_find(line, &at, &length))
			text_printf(&out, "%s\n", line);
		else
			*ret_shortened = true;
	}
	return text_get(&out);
}

// Returns whether a value has no address with a login, a path or a query.
static bool is_plain(const char *value)
{
	for (const char *s = value; (s = strstr(s, "://"));) {
		s += 3;
		s += strspn(s, BARE ".:");
		s += *s == '/';
		if (*s && *s != ',' && *s != '|')
			return false;
	}
	return strspn(value, BARE ".:,|/*+ ") == strlen(value);
}

const char *toolchain_clean_variables(struct arena *arena, const char *text, bool *ret_shortened)
{
	struct text out = { .arena = arena };
	const char *line;

	*ret_shortened = false;
	while ((line = str_next_line(arena, &text))) {
		const char *value = line + strspn(line, BARE);
		size_t at, length;

		if (is_end(line))
			continue;
		if (value > line && *value == '=' && is_plain(value + 1) &&
		    !secret_find(line, &at, &length))
			text_printf(&out, "%s\n", line);
		else
			*ret_shortened = true;
	}
	return text_get(&out);
}
