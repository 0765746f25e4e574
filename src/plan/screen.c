// SPDX-License-Identifier: MIT
// Lines for a person: no wider than the screen, coloured where that helps.
#include "plan/screen.h"

#include <string.h>

void screen_add(struct screen *screen, enum style style, const char *text)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "",      [STYLE_HEAD] = "1",  [STYLE_DIM] = "2",
		[STYLE_GOOD] = "32",     [STYLE_WARN] = "33", [STYLE_ASKED] = "35",
		[STYLE_DANGER] = "1;31",
	};

	if (screen->colour && *codes[style])
		text_printf(&screen->out, "\033[%sm%s\033[0m", codes[style], text);
	else
		text_add(&screen->out, text);
}

size_t screen_room(const struct screen *screen, size_t used)
{
	size_t least = 16;

	if (!screen->columns)
		return 0;
	return screen->columns > used + least ? screen->columns - used : least;
}

// Up to the next blank that separates words; one with a backslash before it belongs to a path.
static size_t word_length(const char *text)
{
	size_t length = 0;

	while (text[length] && text[length] != ' ')
		length += text[length] == '\\' && text[length + 1] ? 2 : 1;
	return length;
}

void screen_end_line(struct screen *screen, size_t indent)
{
	text_printf(&screen->out, "\n%*s", (int)indent, "");
}

size_t screen_add_broken(struct screen *screen, enum style style, const char *text, size_t indent,
			 size_t used)
{
	size_t width = screen_room(screen, indent);

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

void screen_add_wrapped(struct screen *screen, enum style style, const char *text, size_t indent)
{
	size_t width = screen_room(screen, indent);
	size_t used = 0;

	for (const char *s = text; *s;) {
		size_t length = word_length(s);
		const char *part = arena_strndup(screen->arena, s, length);

		if (used && width && used + 1 + display_width(part) > width) {
			screen_end_line(screen, indent);
			used = 0;
		} else if (used) {
			text_add(&screen->out, " ");
			used++;
		}
		used = screen_add_broken(screen, style, part, indent, used);
		s += length + strspn(s + length, " ");
	}
	text_add(&screen->out, "\n");
}
