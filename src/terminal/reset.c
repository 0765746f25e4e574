// SPDX-License-Identifier: MIT
// Table of the sequences that reset a terminal. Each does nothing if the mode is not set.
#include "terminal/reset.h"

#include "base/arena.h"
#include "base/text.h"

#define ALL   TERMINAL_CONSOLE, TERMINAL_EMULATOR
#define RICH  TERMINAL_MULTIPLEXER, TERMINAL_EMULATOR
#define XTERM TERMINAL_EMULATOR, TERMINAL_EMULATOR
#define TMUX  TERMINAL_MULTIPLEXER, TERMINAL_MULTIPLEXER

const struct terminal_reset terminal_resets[] = {
	{ "\033[?2026l", RICH, "synchronized update: the screen is not drawn until it ends" },
	{ "\033[<99u", RICH, "keys send other codes (kitty protocol), on the alternate screen" },
	{ "\0337\033[?1049l", XTERM,
	  "the alternate screen; leaving it restores the saved cursor, so the cursor is saved first" },
	{ "\033[?1047l", TMUX,
	  "the alternate screen, without the cursor: tmux would restore an older position" },
	{ "\033[<99u", RICH, "keys send other codes (kitty protocol), on the main screen" },
	{ "\033[>4;0m", RICH, "keys send other codes (modifyOtherKeys of xterm)" },
	{ "\033[?1l\033>", ALL, "cursor keys and keypad send other codes" },
	{ "\033[?9l\033[?1000l\033[?1002l\033[?1003l", ALL, "mouse events become input" },
	{ "\033[?1005l\033[?1006l\033[?1015l\033[?1016l", ALL, "the format of mouse events" },
	{ "\033[?1004l", ALL, "focus changes become input" },
	{ "\033[?2004l", ALL, "bracketed paste; a shell that uses it sets it again" },
	{ "\033[?2031l", ALL, "colour scheme changes become input" },
	{ "\033[?2048l", ALL, "size changes become input" },
	{ "\0337\033[r\0338", ALL,
	  "the scrolling region; the reset moves the cursor, so it is saved" },
	{ "\033[?7h", ALL, "no wrapping of long lines" },
	{ "\033[4l\033[20l", ALL, "insert mode, newline mode" },
	{ "\033]8;;\033\\", RICH, "an open link" },
	{ "\017\033(B", ALL, "the line drawing character set" },
	{ "\033[0m", ALL,
	  "colours; also for terminals that read the modifyOtherKeys row as colours" },
	{ "\033[?25h", ALL, "hidden cursor" },
};
const size_t terminal_reset_count = ARRAY_SIZE(terminal_resets);

static const struct {
	const char *prefix;
	enum terminal_kind kind;
} kinds[] = {
	{ "tmux", TERMINAL_MULTIPLEXER },      { "screen", TERMINAL_MULTIPLEXER },
	{ "linux", TERMINAL_CONSOLE },         { "xterm", TERMINAL_EMULATOR },
	{ "rxvt-unicode", TERMINAL_EMULATOR }, { "alacritty", TERMINAL_EMULATOR },
	{ "foot", TERMINAL_EMULATOR },         { "kitty", TERMINAL_EMULATOR },
	{ "wezterm", TERMINAL_EMULATOR },      { "ghostty", TERMINAL_EMULATOR },
	{ "konsole", TERMINAL_EMULATOR },      { "gnome", TERMINAL_EMULATOR },
	{ "vte", TERMINAL_EMULATOR },          { "iterm", TERMINAL_EMULATOR },
	{ "mintty", TERMINAL_EMULATOR },       { "contour", TERMINAL_EMULATOR },
	{ "st-256color", TERMINAL_EMULATOR },
};

enum terminal_kind terminal_kind_of(const char *term, bool multiplexed)
{
	for (size_t i = 0; term && i < ARRAY_SIZE(kinds); i++) {
		if (!str_starts(term, kinds[i].prefix))
			continue;
		return multiplexed && kinds[i].kind == TERMINAL_EMULATOR ? TERMINAL_MULTIPLEXER
									 : kinds[i].kind;
	}
	return TERMINAL_OTHER;
}

const char *terminal_render_reset(struct arena *arena, enum terminal_kind kind)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < terminal_reset_count; i++)
		if (kind >= terminal_resets[i].from && kind <= terminal_resets[i].to)
			text_add(&out, terminal_resets[i].bytes);
	return text_get(&out);
}

const char *terminal_render_query(struct arena *arena, const struct terminal_query *query)
{
	return arena_printf(arena, "\0337\033[%uG\033[6n\033[%uG\033[6n\0338", query->columns[0],
			    query->columns[1]);
}

enum { ANSWER_NONE, ANSWER_ESCAPE, ANSWER_NUMBERS };

static void begin_parameters(struct terminal_query *query)
{
	query->state = ANSWER_NUMBERS;
	query->parameter = 0;
	query->parameters[0] = query->parameters[1] = 0;
}

// Parses the next byte of "ESC [ ROW ; COLUMN R".
static void parse_answer(struct terminal_query *query, char byte)
{
	unsigned int *number = &query->parameters[query->parameter];

	if (byte == '\033') {
		query->state = ANSWER_ESCAPE;
	} else if (query->state == ANSWER_ESCAPE && byte == '[') {
		begin_parameters(query);
	} else if (query->state == ANSWER_NUMBERS && byte >= '0' && byte <= '9' &&
		   *number < 10000) {
		*number = *number * 10 + (unsigned int)(byte - '0');
	} else if (query->state == ANSWER_NUMBERS && byte == ';' && query->parameter == 0) {
		query->parameter = 1;
	} else {
		if (query->state == ANSWER_NUMBERS && byte == 'R' &&
		    query->parameters[1] == query->columns[query->answered])
			query->answered++;
		query->state = ANSWER_NONE;
	}
}

bool terminal_query_answered(struct terminal_query *query, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && query->answered < ARRAY_SIZE(query->columns); i++)
		parse_answer(query, bytes[i]);
	return query->answered == ARRAY_SIZE(query->columns);
}
