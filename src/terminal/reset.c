// SPDX-License-Identifier: MIT
// Table of the sequences that reset a terminal, besides those of modes.c. Each does nothing if the
// mode is not set.
#include "terminal/reset.h"

#include "base/arena.h"
#include "base/text.h"
#include "terminal/modes.h"

#include <string.h>

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
	{ "\033>", ALL, "the keypad sends other codes" },
	{ "\0337\033[?69l\033[r\0338", ALL,
	  "margins and scrolling region; the reset moves the cursor, so it is saved" },
	{ "\033[?5W", RICH, "tab stops" },
	{ "\033]8;;\033\\", RICH, "an open link" },
	{ "\017\033(B", ALL, "the line drawing character set" },
	{ "\033)B", RICH, "the line drawing character set, selected by SO" },
	{ "\033[0m", ALL,
	  "colours; also for terminals that read the modifyOtherKeys row as colours" },
};
const size_t terminal_reset_count = ARRAY_SIZE(terminal_resets);
_Static_assert(ARRAY_SIZE(terminal_resets) <= 32, "a set of rows is a uint32_t");

static const struct {
	const char *prefix;
	enum terminal_kind kind;
} kinds[] = {
	{ "dumb", TERMINAL_DUMB },          { "unknown", TERMINAL_DUMB },
	{ "emacs", TERMINAL_DUMB },         { "tmux", TERMINAL_MULTIPLEXER },
	{ "screen", TERMINAL_MULTIPLEXER }, { "linux", TERMINAL_CONSOLE },
	{ "xterm", TERMINAL_EMULATOR },     { "rxvt-unicode", TERMINAL_EMULATOR },
	{ "alacritty", TERMINAL_EMULATOR }, { "foot", TERMINAL_EMULATOR },
	{ "kitty", TERMINAL_EMULATOR },     { "wezterm", TERMINAL_EMULATOR },
	{ "ghostty", TERMINAL_EMULATOR },   { "konsole", TERMINAL_EMULATOR },
	{ "gnome", TERMINAL_EMULATOR },     { "vte", TERMINAL_EMULATOR },
	{ "iterm", TERMINAL_EMULATOR },     { "mintty", TERMINAL_EMULATOR },
	{ "contour", TERMINAL_EMULATOR },   { "st-256color", TERMINAL_EMULATOR },
};

enum terminal_kind terminal_kind_of(const char *term, bool multiplexed)
{
	if (!term || !*term)
		return TERMINAL_DUMB;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!str_starts(term, kinds[i].prefix))
			continue;
		return multiplexed && kinds[i].kind == TERMINAL_EMULATOR ? TERMINAL_MULTIPLEXER
									 : kinds[i].kind;
	}
	return TERMINAL_OTHER;
}

uint32_t terminal_reset_rows(const char *part)
{
	uint32_t rows = 0;

	for (size_t i = 0; part && *part && i < terminal_reset_count; i++)
		if (strstr(terminal_resets[i].bytes, part))
			rows |= (uint32_t)1 << i;
	return rows;
}

// Returns the rows to write. An unknown terminal has accepted the sequences that set these modes.
static uint32_t rows_for(enum terminal_kind kind, const struct terminal_used *used)
{
	enum terminal_kind as = kind == TERMINAL_OTHER ? TERMINAL_EMULATOR : kind;
	uint32_t rows = 0;

	for (size_t i = 0; i < terminal_reset_count; i++)
		if (as >= terminal_resets[i].from && as <= terminal_resets[i].to)
			rows |= (uint32_t)1 << i;
	if (kind == TERMINAL_OTHER)
		rows &= used->rows | modes_reset_rows(used->modes) |
			(used->rows || used->modes ? terminal_reset_rows("[0m") : 0);
	return rows;
}

const char *terminal_render_reset(struct arena *arena, enum terminal_kind kind,
				  const struct terminal_used *used)
{
	uint32_t rows = rows_for(kind, used);
	struct text out = { .arena = arena };

	// The kitty protocol has separate key codes for each screen. This leads to the alternate
	// screen from either one, and back.
	if (rows & used->rows & terminal_reset_rows("[<99u") &&
	    rows & modes_reset_rows(used->modes) & terminal_reset_rows("[?1049l"))
		text_add(&out, "\033[?1049h\033[<99u\033[?1049l\033[<99u");
	for (size_t i = 0; i < terminal_reset_count; i++)
		if (rows >> i & 1)
			text_add(&out, terminal_resets[i].bytes);
	if (kind != TERMINAL_DUMB)
		modes_render_reset(&out, used->modes, kind);
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
