// SPDX-License-Identifier: MIT
// Walks through a JSON text to a value. It skips values instead of parsing them, and terminates
// on any text.
#include "config/locate.h"

#include "base/text.h"

#include <jansson.h>
#include <string.h>

struct cursor {
	const char *at;
	struct position position;
};

static void advance(struct cursor *cursor)
{
	unsigned char c = (unsigned char)*cursor->at++;

	if (c == '\n') {
		cursor->position.line++;
		cursor->position.column = 1;
	} else if ((c & 0xc0) != 0x80) {
		cursor->position.column++;
	}
}

static void skip_blanks(struct cursor *cursor)
{
	while (*cursor->at && strchr(" \t\r\n", *cursor->at))
		advance(cursor);
}

// Skips blanks and this character. Returns false, before the other character, if it does not
// follow.
static bool skip_past(struct cursor *cursor, char wanted)
{
	skip_blanks(cursor);
	if (*cursor->at != wanted)
		return false;
	advance(cursor);
	return true;
}

static bool skip_string(struct cursor *cursor)
{
	if (!skip_past(cursor, '"'))
		return false;
	for (; *cursor->at && *cursor->at != '"'; advance(cursor))
		if (*cursor->at == '\\' && cursor->at[1])
			advance(cursor);
	return skip_past(cursor, '"');
}

// Skips a value, without recursion: a text can be nested as deep as it is long.
static void skip_value(struct cursor *cursor)
{
	size_t depth = 0;

	do {
		skip_blanks(cursor);
		if (*cursor->at == '"') {
			skip_string(cursor);
		} else if (*cursor->at && strchr("{[", *cursor->at)) {
			depth++;
			advance(cursor);
		} else if (*cursor->at && strchr("}]", *cursor->at)) {
			depth -= depth > 0;
			advance(cursor);
		} else if (*cursor->at && strchr(",:", *cursor->at)) {
			advance(cursor);
		} else {
			while (*cursor->at && !strchr(" \t\r\n,:{}[]\"", *cursor->at))
				advance(cursor);
		}
	} while (depth && *cursor->at);
}

// Returns whether a JSON string, given with its quotes and escapes, stands for this text.
static bool string_is(const char *written, size_t length, const char *wanted)
{
	json_t *string;
	bool same;

	if (!memchr(written, '\\', length))
		return length == strlen(wanted) + 2 && memcmp(written + 1, wanted, length - 2) == 0;
	string = json_loadb(written, length, JSON_DECODE_ANY, NULL);
	same = json_is_string(string) && str_equal(json_string_value(string), wanted);
	json_decref(string);
	return same;
}

// Moves to the value of a member and stores the position of its key.
static bool enter_member(struct cursor *cursor, const char *key, struct position *ret_key)
{
	if (!skip_past(cursor, '{'))
		return false;
	do {
		struct cursor start;

		skip_blanks(cursor);
		start = *cursor;
		if (!skip_string(cursor))
			return false;
		*ret_key = start.position;
		if (string_is(start.at, (size_t)(cursor->at - start.at), key))
			return skip_past(cursor, ':');
		if (!skip_past(cursor, ':'))
			return false;
		skip_value(cursor);
	} while (skip_past(cursor, ','));
	return false;
}

static bool enter_entry(struct cursor *cursor, size_t index)
{
	if (!skip_past(cursor, '['))
		return false;
	for (; index; index--) {
		skip_value(cursor);
		if (!skip_past(cursor, ','))
			return false;
	}
	skip_blanks(cursor);
	return *cursor->at && *cursor->at != ']';
}

bool locate(const char *text, const struct json_step *steps, size_t depth, enum locate_what what,
	    struct position *ret_position)
{
	struct cursor cursor = { .at = text, .position = { .line = 1, .column = 1 } };
	struct position key = cursor.position;

	for (size_t i = 0; i < depth; i++) {
		bool entered = steps[i].key ? enter_member(&cursor, steps[i].key, &key)
					    : enter_entry(&cursor, steps[i].index);

		if (!entered)
			return false;
	}
	skip_blanks(&cursor);
	if (!*cursor.at)
		return false;
	*ret_position = what == LOCATE_KEY && depth && steps[depth - 1].key ? key : cursor.position;
	return true;
}

struct position locate_byte(const char *text, size_t offset)
{
	struct cursor cursor = { .at = text, .position = { .line = 1, .column = 1 } };

	while (*cursor.at && (size_t)(cursor.at - text) < offset)
		advance(&cursor);
	return cursor.position;
}
