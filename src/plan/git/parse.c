// SPDX-License-Identifier: MIT
// Parser for git configuration files, with the whole syntax of git-config(1).
//
// Theory of operation: claudebox starts faster when it does not run git, and git would follow an
// include to any file. So this parser reads like git's own (config.c there), byte by byte: the end
// of a file is the end of a line, "\r\n" is one newline, a header may have an entry on its line.
#include "plan/git/parse.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

struct parser {
	struct arena *arena;
	git_config_entry_handler handle;
	void *context;
	const char *text;
	const char *at;
	size_t line;
	bool ended;
	struct text name;   // of the header or entry that is parsed
	struct text value;  // of the entry
	struct text blanks; // that end the value, or are part of it
};

// Returns a copy of a buffer that is used again.
static const char *copy_of(struct parser *parser, const struct text *text)
{
	return arena_strndup(parser->arena, text_get(text), text->length);
}

// Returns the next character. The end of the text is a newline.
static char next(struct parser *parser)
{
	char c = *parser->at;

	if (!c) {
		parser->ended = true;
		return '\n';
	}
	parser->at++;
	if (c == '\r' && *parser->at == '\n') {
		parser->at++;
		c = '\n';
	}
	if (c == '\n')
		parser->line++;
	return c;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_key_byte(char c)
{
	return isalnum((unsigned char)c) || c == '-';
}

static void add_lower(struct text *text, char c)
{
	c = (char)tolower((unsigned char)c);
	text_add_bytes(text, &c, 1);
}

// Parses the rest of [section "name"], which may contain any character except a newline.
static bool parse_quoted_section(struct parser *parser)
{
	struct text *name = &parser->name;
	char c = ' ';

	while (is_blank(c)) {
		if (c == '\n')
			return false;
		c = next(parser);
	}
	if (c != '"')
		return false;
	text_add(name, ".");
	while ((c = next(parser)) != '"') {
		if (c == '\\')
			c = next(parser);
		if (c == '\n')
			return false;
		text_add_bytes(name, &c, 1);
	}
	return next(parser) == ']';
}

// Parses a header behind its '['. Stores "section" or "section.name".
static bool parse_section(struct parser *parser, const char **ret_section)
{
	char c;

	parser->name.length = 0;
	while ((c = next(parser)) != ']') {
		if (c == ' ' || c == '\t') {
			if (!parse_quoted_section(parser))
				return false;
			break;
		}
		if (!is_key_byte(c) && c != '.')
			return false;
		add_lower(&parser->name, c);
	}
	*ret_section = copy_of(parser, &parser->name);
	return **ret_section != '\0';
}

// Adds the character of an escape sequence. The escape of a newline adds none.
static bool parse_escape(struct parser *parser)
{
	static const char names[] = "tbn\\\"";
	static const char values[] = "\t\b\n\\\"";
	char c = next(parser);
	const char *found = strchr(names, c);

	if (c == '\n')
		return !parser->ended;
	if (!found)
		return false;
	text_add_bytes(&parser->value, values + (found - names), 1);
	return true;
}

// Parses a value up to the end of its line.
static bool parse_value(struct parser *parser, const char **ret_value)
{
	struct text *value = &parser->value;
	struct text *blanks = &parser->blanks;
	bool quoted = false;
	bool comment = false;
	char c;

	value->length = blanks->length = 0;
	while ((c = next(parser)) != '\n') {
		if (comment)
			continue;
		if (!quoted && is_blank(c)) {
			if (value->length)
				text_add_bytes(blanks, &c, 1);
			continue;
		}
		if (!quoted && (c == '#' || c == ';')) {
			comment = true;
			continue;
		}
		text_add_bytes(value, text_get(blanks), blanks->length);
		blanks->length = 0;
		if (c == '"')
			quoted = !quoted;
		else if (c != '\\')
			text_add_bytes(value, &c, 1);
		else if (!parse_escape(parser))
			return false;
	}
	*ret_value = copy_of(parser, value);
	return !quoted;
}

// Passes on what begins at `start` and ends here. `name` NULL: it is a header.
static void pass_on(struct parser *parser, const char *start, const char *section, const char *name,
		    const char *value)
{
	struct git_config_entry entry = {
		.section = section,
		.name = name,
		.value = value,
		.start = (size_t)(start - parser->text),
		.end = (size_t)(parser->at - parser->text),
	};

	parser->handle(parser->context, &entry);
}

// Parses an entry whose first character was read.
static bool parse_entry(struct parser *parser, char c, const char *section)
{
	const char *start = parser->at - 1;
	const char *value = NULL;

	parser->name.length = 0;
	text_add(&parser->name, section);
	text_add(&parser->name, *section ? "." : "");
	for (; is_key_byte(c); c = next(parser))
		add_lower(&parser->name, c);
	while (c == ' ' || c == '\t')
		c = next(parser);
	if (c != '\n' && (c != '=' || !parse_value(parser, &value)))
		return false;
	pass_on(parser, start, section, copy_of(parser, &parser->name), value);
	return true;
}

static void skip_line(struct parser *parser)
{
	while (next(parser) != '\n')
		;
}

bool git_config_parse_entries(struct arena *arena, const char *text,
			      git_config_entry_handler handle, void *context, size_t *ret_line)
{
	struct parser parser = { .arena = arena,
				 .handle = handle,
				 .context = context,
				 .text = text,
				 .at = text,
				 .line = 1,
				 .name.arena = arena,
				 .value.arena = arena,
				 .blanks.arena = arena };
	const char *section = "";
	bool ok = true;

	if (str_starts(text, GIT_BYTE_ORDER_MARK))
		parser.at += strlen(GIT_BYTE_ORDER_MARK);
	while (ok && !parser.ended) {
		const char *start = parser.at;
		char c;

		*ret_line = parser.line;
		c = next(&parser);
		if (is_blank(c))
			continue;
		if (c == '#' || c == ';') {
			skip_line(&parser);
		} else if (c == '[') {
			ok = parse_section(&parser, &section);
			if (ok)
				pass_on(&parser, start, section, NULL, NULL);
		} else {
			ok = isalpha((unsigned char)c) && parse_entry(&parser, c, section);
		}
	}
	return ok;
}

// The handler of git_config_parse().
struct plain_handler {
	git_config_handler handle;
	void *context;
};

static void handle_plain(void *context, const struct git_config_entry *entry)
{
	const struct plain_handler *plain = context;

	if (entry->name)
		plain->handle(plain->context, entry->name, entry->value);
}

bool git_config_parse(struct arena *arena, const char *text, git_config_handler handle,
		      void *context, size_t *ret_line)
{
	struct plain_handler plain = { handle, context };

	return git_config_parse_entries(arena, text, handle_plain, &plain, ret_line);
}
