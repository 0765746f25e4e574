// SPDX-License-Identifier: MIT
// Finds assignments of secrets. A value in quotes ends with the quote; another one ends with a
// blank or with a character that ends a word in a shell, in JSON or in a URL.
#include "plan/secrets/assignments.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/bytes.h"
#include "plan/secrets/commands.h"
#include "plan/secrets/names.h"
#include "plan/secrets/shapes.h"
#include "plan/secrets/values.h"

#include <stdint.h>
#include <string.h>

enum { MAX_NAME = 128, SHORT_NAME = 4, LOOSE_PASSWORD = 6, GENERIC_KEY = 16 };
// Bounds, so that no text costs quadratic time.
enum { NETRC_LINE = 256, MAX_VALUE = 1024 };

// An assignment while it is read.
struct reader {
	const char *text;
	size_t name;
	size_t name_length;
	size_t cursor;
	bool option;      // --name
	bool loose;       // blanks around the separator: also prose
	bool quoted;      // the value
	const char *ends; // the characters that end the value
};

static bool is_name_byte(char c)
{
	return byte_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t skip_blanks(struct reader *reader)
{
	size_t start = reader->cursor;

	while (is_blank(reader->text[reader->cursor]))
		reader->cursor++;
	return reader->cursor - start;
}

// Skips a quote, and the backslashes before it. Returns the quote, '\0': there is none.
static char skip_quote(struct reader *reader)
{
	size_t i = reader->cursor;
	char quote;

	while (reader->text[i] == '\\')
		i++;
	quote = reader->text[i];
	if (quote != '"' && quote != '\'' && quote != '`')
		return '\0';
	reader->cursor = i + 1;
	return quote;
}

// Reads a name that starts here. Returns false if this is the middle of a word.
static bool read_name(struct reader *reader, size_t at)
{
	const char *text = reader->text;
	size_t dashes = 0;

	if (!byte_is_alpha(text[at]) && text[at] != '_')
		return false;
	while (dashes < at && text[at - 1 - dashes] == '-')
		dashes++;
	if (at > dashes && is_name_byte(text[at - 1 - dashes]) &&
	    (dashes > 0 || !shape_boundary(text, at) || strchr("_.", text[at - 1])))
		return false;
	reader->option = dashes > 0;
	reader->name = at;
	while (reader->name_length < MAX_NAME && is_name_byte(text[at + reader->name_length]))
		reader->name_length++;
	reader->cursor = at + reader->name_length;
	return reader->name_length < MAX_NAME;
}

// Returns whether the text has the words of a netrc file before the name.
static bool follows_login(const struct reader *reader)
{
	const char *name = reader->text + reader->name;
	size_t before = reader->name < NETRC_LINE ? reader->name : NETRC_LINE;

	return strncasecmp(name, "passw", 5) == 0 && memmem(name - before, before, "login ", 6);
}

// Reads the separator between name and value.
static bool read_separator(struct reader *reader)
{
	const char *text = reader->text;
	bool quoted_name = skip_quote(reader) != '\0';
	size_t blanks;

	if (text[reader->cursor] == ']')
		reader->cursor++;
	blanks = skip_blanks(reader);
	if (text[reader->cursor] == '=' || text[reader->cursor] == ':') {
		char first = text[reader->cursor++];

		if (str_starts(text + reader->cursor, "//") ||
		    (first == '=' && text[reader->cursor] == '='))
			return false;
		if (text[reader->cursor] && strchr("=>-", text[reader->cursor]))
			reader->cursor++;
		blanks += skip_blanks(reader);
		reader->loose = blanks > 0 && !quoted_name;
		return true;
	}
	if (text[reader->cursor] == '>' && reader->name > 0 && text[reader->name - 1] == '<') {
		reader->cursor++; // <password>value</password>
		return str_starts(text + reader->cursor + strcspn(text + reader->cursor, "<\n"),
				  "</");
	}
	return blanks > 0 && !quoted_name && text[reader->cursor] != '-' &&
	       (reader->option || follows_login(reader));
}

// Skips the scheme of a header, and stores the characters that end the value.
static void start_value(struct reader *reader)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Token ", "SSWS ", "ApiKey " };
	char quote = skip_quote(reader);
	const char *value = reader->text + reader->cursor;

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0) {
			reader->cursor += strlen(schemes[i]);
			break;
		}
	reader->quoted = quote != '\0' && quote != '`'; // Markdown quotes prose so
	reader->ends = quote == '"'    ? "\"\\\n"
		       : quote == '\'' ? "'\\\n"
		       : quote == '`'  ? "`\\\n"
				       : " \t\r\n\"'`;,&|)<>}]\\";
}

// Returns the length of the value, up to a bound.
static size_t read_value(const struct reader *reader, size_t most)
{
	const char *value = reader->text + reader->cursor;
	size_t length = 0;

	while (length < most && !strchr(reader->ends, value[length])) // it also finds NUL
		length++;
	return length;
}

// Returns whether a value in prose looks like a secret: "password: must be set" does not.
static bool is_loose_secret(const char *value, size_t length)
{
	bool special = false;

	for (size_t i = 0; i < length; i++)
		special |= byte_is_digit(value[i]) || strchr("!@#%^*+=~?", value[i]);
	return length >= LOOSE_PASSWORD && special;
}

// Returns whether the value is an expression of a program: request.token, data[0].
static bool is_expression(const char *value, size_t length)
{
	bool dot = false;

	for (size_t i = 0; i < length; i++) {
		if (value[i] == '[' || value[i] == '{')
			return true;
		if (!byte_is_alpha(value[i]) && !strchr("_.^", value[i]))
			return false;
		dot |= value[i] == '.';
	}
	return dot;
}

static bool judge(const struct reader *reader, enum name_strength strength, size_t length)
{
	const char *value = reader->text + reader->cursor;

	if (!value_is_secret(strength, value, length) ||
	    (!reader->quoted && is_expression(value, length)))
		return false;
	if (strength == NAME_HINT && reader->name_length <= SHORT_NAME)
		return shape_random(value, length, GENERIC_KEY) ||
		       value_encodes_login(value, length);
	return strength < NAME_TOKEN || !reader->loose || reader->quoted ||
	       is_loose_secret(value, length);
}

bool assignment_match(const char *text, size_t at, struct assignment *ret)
{
	struct reader reader = { .text = text };

	if (command_match(text, at, &ret->start, &ret->length)) {
		ret->kind = "a password";
		ret->strength = NAME_SECRET;
		return true;
	}
	if (!read_name(&reader, at))
		return false;
	if (!read_separator(&reader))
		return false;
	ret->strength = name_judge(text + reader.name, reader.name_length, &ret->kind);
	if (ret->strength == NAME_HARMLESS)
		return false;
	start_value(&reader);
	if (!judge(&reader, ret->strength, read_value(&reader, MAX_VALUE)))
		return false;
	ret->start = reader.cursor;
	ret->length = read_value(&reader, SIZE_MAX);
	return true;
}
