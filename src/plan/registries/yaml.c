// SPDX-License-Identifier: MIT
// Parser for the part of YAML that settings of package managers use.
//
// Theory of operation: each line is a key, a key with a value, or an entry of a list, and its
// indentation tells what it belongs to. A value that is an alias, a tag, a flow collection or a
// block of text is unreadable, and the lines of a block are skipped. Everything else that this
// parser does not know makes the whole file unreadable: the parser does not guess.
#include "plan/registries/yaml.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"

#include <string.h>

struct yaml {
	struct parsed *parsed;
	struct setting_step steps[MOST_STEPS]; // the keys that a line belongs to
	size_t indents[MOST_STEPS];
	size_t depth;
	bool list; // the last setting had no value: entries may follow
	size_t list_indent;
	bool skips; // lines with an indentation of more than skip_indent
	size_t skip_indent;
	bool scalar; // the last line ended with a value, which no deeper line may continue
	size_t scalar_indent;
};

// Returns the length of a comment-free value: up to a '#' behind a blank.
static size_t without_comment(const char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (s[i] == '#' && (i == 0 || s[i - 1] == ' ' || s[i - 1] == '\t'))
			return i;
	return strlen(s);
}

// Returns the length of the quoted text at `s` with its quotation marks, 0: it has an escape or no
// end.
static size_t quoted_length(const char *s)
{
	size_t length = strcspn(s + 1, *s == '"' ? "\"\\" : "'");

	return s[1 + length] == *s && !(*s == '\'' && s[2 + length] == '\'') ? length + 2 : 0;
}

// Splits "key: rest". Returns the key and moves the cursor to the rest; NULL: there is no key.
static const char *read_key(struct arena *arena, const char **cursor)
{
	const char *s = *cursor;
	size_t quoted = *s == '"' || *s == '\'' ? quoted_length(s) : 0;
	size_t length = quoted;

	while (!quoted && s[length] &&
	       !(s[length] == ':' && (!s[length + 1] || s[length + 1] == ' ')))
		length++;
	if (!length || s[length] != ':' || (s[length + 1] && s[length + 1] != ' '))
		return NULL;
	*cursor = s + length + 1 + strspn(s + length + 1, " \t");
	return quoted ? arena_strndup(arena, s + 1, length - 2) : setting_trim(arena, s, length);
}

// Returns a value, "": none; NULL: it is unreadable.
static const char *read_value(struct arena *arena, const char *s)
{
	size_t length;

	if (*s != '"' && *s != '\'')
		return strchr("&*!|>{[%@`", *s) && *s ? NULL
						      : setting_trim(arena, s, without_comment(s));
	length = quoted_length(s);
	if (!length || without_comment(s + length + strspn(s + length, " \t")))
		return NULL;
	return arena_strndup(arena, s + 1, length - 2);
}

// Adds a value to the last setting.
static void store_value(struct yaml *yaml, const char *value, size_t indent)
{
	struct setting *setting = &yaml->parsed->list.items[yaml->parsed->list.count - 1];

	if (!value) {
		setting->unreadable = true;
		yaml->skips = true;
		yaml->skip_indent = indent;
	} else if (*value) {
		vec_push(yaml->parsed->arena, &setting->values, value);
		yaml->scalar = true;
		yaml->scalar_indent = indent;
	}
}

// Handles "key:" and "key: value".
static bool add_key(struct yaml *yaml, const char *s, size_t indent)
{
	struct arena *arena = yaml->parsed->arena;
	const char *key = read_key(arena, &s);
	const char *value = key ? read_value(arena, s) : NULL;
	struct setting *setting;

	while (yaml->depth && yaml->indents[yaml->depth - 1] >= indent)
		yaml->depth--;
	if (!key || yaml->depth == MOST_STEPS)
		return false;
	yaml->indents[yaml->depth] = indent;
	yaml->steps[yaml->depth++] = (struct setting_step){ .name = key };
	setting = setting_add(yaml->parsed, yaml->steps, yaml->depth, NULL);
	if (!setting)
		return false;
	setting->plain = *s != '"' && *s != '\'';
	store_value(yaml, value, indent);
	yaml->list = value && !*value;
	yaml->list_indent = indent;
	return true;
}

// Handles "- value". An entry with keys is unreadable.
static bool add_entry(struct yaml *yaml, const char *s, size_t indent)
{
	const char *rest = s + 1 + strspn(s + 1, " ");
	const char *cursor = rest;
	struct setting *setting;

	if (!yaml->list || indent < yaml->list_indent)
		return false;
	setting = &yaml->parsed->list.items[yaml->parsed->list.count - 1];
	if (setting->list && indent != yaml->list_indent)
		return false;
	setting->list = true;
	yaml->list_indent = indent;
	store_value(yaml,
		    !*rest || read_key(yaml->parsed->arena, &cursor)
			    ? NULL
			    : read_value(yaml->parsed->arena, rest),
		    indent);
	return true;
}

static bool add_line(struct yaml *yaml, const char *line)
{
	size_t indent = strspn(line, " ");
	const char *s = line + indent;

	if (yaml->skips && indent > yaml->skip_indent)
		return true;
	yaml->skips = false;
	if (*s == '\t' || str_starts(s, "...") || str_starts(s, "? ") ||
	    (yaml->scalar && indent > yaml->scalar_indent))
		return false;
	yaml->scalar = false;
	return *s == '-' && (s[1] == ' ' || !s[1]) ? add_entry(yaml, s, indent)
						   : add_key(yaml, s, indent);
}

bool yaml_parse(struct parsed *parsed, const char *text)
{
	struct yaml yaml = { .parsed = parsed };
	const char *line;

	while ((line = setting_next_line(parsed, &text))) {
		const char *s = line + strspn(line, " \t");

		if (!*s || *s == '#' || (str_equal(line, "---") && !parsed->list.count))
			continue;
		if (!add_line(&yaml, line))
			return false;
	}
	return true;
}
