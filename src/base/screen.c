// SPDX-License-Identifier: MIT
// Formats text for a reader: wrapped to the terminal's width, in its characters and colours.
#include "base/screen.h"

#include "base/arena.h"
#include "base/text.h"
#include "base/width.h"

#include <string.h>

#define CUT_MARK "..."

struct screen screen_for(struct arena *arena, struct reader reader)
{
	return (struct screen){ .arena = arena, .out = { .arena = arena }, .reader = reader };
}

// Escapes the characters that an ASCII locale lacks. Existing escapes are ASCII and stay as they
// are.
static const char *escape_for_locale(const struct screen *screen, const char *text)
{
	struct text out = { .arena = screen->arena };

	if (!screen->reader.ascii)
		return text;
	for (const char *s = text; *s; s++) {
		if ((unsigned char)*s < 0x80)
			text_add_bytes(&out, s, 1);
		else
			text_printf(&out, "\\x%02x", (unsigned char)*s);
	}
	return text_get(&out);
}

void screen_add(struct screen *screen, enum style style, const char *text)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "",       [STYLE_HEAD] = "1",      [STYLE_DIM] = "2",
		[STYLE_GOOD] = "32",      [STYLE_WARN] = "33",     [STYLE_ALLOWED] = "36",
		[STYLE_REQUESTED] = "35", [STYLE_DANGER] = "1;31",
	};

	text = escape_for_locale(screen, text);
	if (screen->reader.colour && *codes[style] && *text)
		text_printf(&screen->out, "\033[%sm%s\033[0m", codes[style], text);
	else
		text_add(&screen->out, text);
}

size_t screen_room(const struct screen *screen, size_t used)
{
	size_t columns = screen->reader.columns;
	size_t least = 16;

	if (!columns)
		return 0;
	return columns > used + least ? columns - used : least;
}

size_t screen_width(const struct screen *screen, const char *text)
{
	return display_width(escape_for_locale(screen, text));
}

const char *screen_cut(const struct screen *screen, const char *text, size_t columns)
{
	size_t kept = columns > sizeof(CUT_MARK) ? columns - (sizeof(CUT_MARK) - 1) : 1;

	text = escape_for_locale(screen, text);
	if (display_width(text) <= columns)
		return text;
	return arena_printf(screen->arena, "%.*s" CUT_MARK, (int)display_fit(text, kept), text);
}

bool screen_narrow(const struct screen *screen, size_t columns)
{
	return screen->reader.columns && screen->reader.columns < columns;
}

void screen_add_blanks(struct screen *screen, size_t count)
{
	text_printf(&screen->out, "%*s", (int)count, "");
}

void screen_end_line(struct screen *screen, size_t indent)
{
	text_add(&screen->out, "\n");
	screen_add_blanks(screen, indent);
}

size_t screen_add_broken(struct screen *screen, enum style style, const char *text, size_t indent,
			 size_t used)
{
	size_t width = screen_room(screen, indent);

	text = escape_for_locale(screen, text);
	while (width && used + display_width(text) > width) {
		size_t length = used < width ? display_fit(text, width - used) : 0;

		screen_add(screen, style, arena_strndup(screen->arena, text, length));
		screen_end_line(screen, indent);
		text += length;
		used = 0;
	}
	screen_add(screen, style, text);
	return used + display_width(text);
}

// Returns the length of the word at `text`. A blank after a backslash belongs to the word (a path),
// and in a command also a blank between single quotes.
static size_t word_length(const char *text, bool command)
{
	size_t length = 0;

	while (text[length] && text[length] != ' ' && text[length] != '\n') {
		if (command && text[length] == '\'')
			length += 1 + strcspn(text + length + 1, "'");
		else if (text[length] == '\\' && text[length + 1])
			length++;
		if (text[length])
			length++;
	}
	return length;
}

// Returns the length of the word at `text`, or of the whole command if one in backquotes starts
// there. Text that a program quotes `like this' is not a command.
static size_t unit_length(const char *text)
{
	size_t length = *text == '`' ? 1 + strcspn(text + 1, "`\n") : 0;
	bool command = length && text[length] == '`' && strchr(" \n.,;:)", text[length + 1]);

	return command ? length + word_length(text + length, false) : word_length(text, false);
}

size_t screen_first_width(const struct screen *screen, const char *text)
{
	text = escape_for_locale(screen, text);
	return display_width(arena_strndup(screen->arena, text, unit_length(text)));
}

// Returns the length of the first `count` words, or of the whole text. A command counts as a word.
static size_t words_length(const char *text, size_t count)
{
	size_t length = 0;

	for (size_t i = 0; i < count && text[length]; i++) {
		length += strspn(text + length, " \n");
		length += unit_length(text + length);
	}
	return length;
}

size_t screen_count_words(const struct screen *screen, const char *text)
{
	size_t count = 0;

	text = escape_for_locale(screen, text);
	for (size_t length = 0; text[length]; count++)
		length += words_length(text + length, 1);
	return count;
}

const char *screen_cut_words(const struct screen *screen, const char *text, size_t count)
{
	size_t length;

	text = escape_for_locale(screen, text);
	length = words_length(text, count);
	return text[length] ? arena_printf(screen->arena, "%.*s" CUT_MARK, (int)length, text)
			    : text;
}

// Adds text word by word. In a command that does not fit into one line, `line_end` is " \\" and
// ends every line but the last; elsewhere it is "".
static size_t add_words(struct screen *screen, enum style style, const char *text, size_t indent,
			size_t used, const char *line_end)
{
	size_t width = screen_room(screen, indent);

	for (const char *s = text; *s;) {
		size_t blanks = strspn(s, " ");
		size_t length = *line_end ? word_length(s + blanks, true) : unit_length(s + blanks);
		const char *unit = arena_strndup(screen->arena, s + blanks, length);
		size_t wanted = display_width(unit) + strlen(line_end);

		s += blanks + length;
		if (width && used && used + blanks + wanted > width) {
			screen_add(screen, style, line_end);
			screen_end_line(screen, indent);
			used = 0;
		} else {
			screen_add_blanks(screen, blanks);
			used += blanks;
		}
		if (width && *unit == '`' && !*line_end && wanted > width)
			used = add_words(screen, style, unit, indent, used, " \\");
		else
			used = screen_add_broken(screen, style, unit, indent, used);
		if (*s == '\n') {
			screen_end_line(screen, indent);
			used = 0;
			s++;
		}
	}
	return used;
}

size_t screen_add_words(struct screen *screen, enum style style, const char *text, size_t indent,
			size_t used)
{
	return add_words(screen, style, escape_for_locale(screen, text), indent, used, "");
}

void screen_add_wrapped(struct screen *screen, enum style style, const char *text, size_t indent)
{
	screen_add_words(screen, style, text, indent, 0);
	text_add(&screen->out, "\n");
}
