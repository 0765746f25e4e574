// SPDX-License-Identifier: MIT
// Places in a profile, and errors at them: one line each, with file, line and column.
#include "config/profile/place.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/locate.h"
#include "config/profile/profile.h"

#include <string.h>

static struct profile_place place_add(const struct profile_place *place, struct json_step step)
{
	struct profile_place inner = *place;

	inner.steps[inner.depth++] = step;
	return inner;
}

struct profile_place profile_member(const struct profile_place *place, const char *key)
{
	return place_add(place, (struct json_step){ .key = key });
}

struct profile_place profile_entry(const struct profile_place *place, size_t index)
{
	return place_add(place, (struct json_step){ .index = index });
}

const char *profile_place_name(const struct profile_place *place)
{
	struct text out = { .arena = place->error->arena };

	for (size_t i = 0; i < place->depth; i++) {
		const struct json_step *step = &place->steps[i];

		if (step->key)
			text_printf(&out, "%s%s", i ? "." : "", step->key);
		else
			text_printf(&out, "[%zu]", step->index);
	}
	return quote_display(place->error->arena, text_get(&out), 80);
}

static bool fail(const struct profile *profile, struct position position, const char *message,
		 struct error *error)
{
	return error_set(error, "profile '%s': line %zu, column %zu: %s",
			 quote_display(error->arena, profile->path, 200), position.line,
			 position.column, message);
}

bool profile_fail(const struct profile_place *place, enum locate_what what, const char *format, ...)
{
	struct position position = { .line = 1, .column = 1 };
	const char *message;
	va_list args;

	va_start(args, format);
	message = arena_vprintf(place->error->arena, format, args);
	va_end(args);
	locate(place->profile->text, place->steps, place->depth, what, &position);
	return fail(place->profile, position, message, place->error);
}

const char *profile_place_shown(struct arena *arena, const struct profile_place *place,
				const char *member)
{
	struct error error = { .arena = arena };
	struct profile_place here = *place;

	here.error = &error;
	if (member)
		here = profile_member(&here, member);
	profile_fail(&here, LOCATE_VALUE, "'%s'", profile_place_name(&here));
	return error.message;
}

// Reports a duplicate key. jansson stops behind the second one, at `end`.
static bool fail_duplicate(const struct profile *profile, size_t end, struct error *error)
{
	struct arena *arena = error->arena;
	const char *text = profile->text;
	size_t start = end > 1 ? end - 1 : 0;

	// An escaped quote does not begin the key.
	while (start > 0 && (text[start - 1] != '"' || (start > 1 && text[start - 2] == '\\')))
		start--;
	fail(profile, locate_byte(text, start ? start - 1 : 0),
	     arena_printf(arena, "duplicate key '%s'",
			  quote_display(arena,
					arena_strndup(arena, text + start,
						      end > start ? end - 1 - start : 0),
					60)),
	     error);
	return error_hint(error, "remove one of the two");
}

// Returns jansson's message for the screen and moves the position to the start of the token that
// the message quotes. The token is left out if it is a string, which may be a secret.
static const char *describe_syntax(struct arena *arena, const char *message,
				   struct position *position)
{
	static const char before[] = " near '";
	const char *near = strstr(message, before);
	const char *token = near ? near + strlen(before) : "";
	size_t length = strlen(message);

	if (*token == '"')
		length = (size_t)(near - message);
	// From the token's second character to its end, without the quote behind it.
	for (const char *s = token; *s && s[1] && s[2] && *token != '"'; s++)
		position->column -= position->column > 1 && (s[1] & 0xc0) != 0x80;
	return quote_display(arena, arena_strndup(arena, message, length), 120);
}

bool profile_fail_syntax(const struct profile *profile, const json_error_t *problem,
			 struct error *error)
{
	struct position position = { .line = problem->line > 0 ? (size_t)problem->line : 1,
				     .column = problem->column > 0 ? (size_t)problem->column : 1 };
	const char *message = describe_syntax(error->arena, problem->text, &position);

	if (profile->text[strspn(profile->text, " \t\r\n")] == '\0') {
		fail(profile, (struct position){ 1, 1 }, "the file is empty", error);
		return error_hint(error, "the smallest profile is {}");
	}
	switch (json_error_code(problem)) {
	case json_error_duplicate_key:
		return fail_duplicate(profile, (size_t)problem->position, error);
	case json_error_invalid_utf8:
		fail(profile, position, message, error);
		return error_hint(error, "save the file as UTF-8");
	case json_error_null_character:
	case json_error_null_byte_in_key:
		fail(profile, position, "a NUL character", error);
		return error_hint(error, "remove the \\u0000");
	default:
		fail(profile, position, message, error);
		return error_hint(error, "JSON requires double quotes around keys and strings, and "
					 "commas between entries; comments are not allowed");
	}
}
