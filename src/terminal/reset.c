// SPDX-License-Identifier: MIT
// The table of resets. Each does nothing where the mode is not on: a screen that is as it should be stays so.
#include "terminal/reset.h"

#include "base/arena.h"
#include "base/text.h"

#define ALL   TERMINAL_CONSOLE, TERMINAL_EMULATOR
#define RICH  TERMINAL_MULTIPLEXER, TERMINAL_EMULATOR
#define XTERM TERMINAL_EMULATOR, TERMINAL_EMULATOR
#define TMUX  TERMINAL_MULTIPLEXER, TERMINAL_MULTIPLEXER

const struct terminal_reset terminal_resets[] = {
	{ "\033[?2026l", RICH, "nothing is shown until the update ends" },
	{ "\033[<99u", RICH, "keys send other codes (kitty); the other screen has its own" },
	{ "\0337\033[?1049l", XTERM,
	  "the other screen; it goes back to where the cursor was saved, so it is saved first" },
	{ "\033[?1047l", TMUX,
	  "the same, without the cursor: tmux goes to an older place where it was not on" },
	{ "\033[<99u", RICH, "keys send other codes (kitty), on this screen" },
	{ "\033[>4;0m", RICH, "keys send other codes (xterm's modifyOtherKeys)" },
	{ "\033[?1l\033>", ALL, "arrows and keypad send other codes" },
	{ "\033[?9l\033[?1000l\033[?1002l\033[?1003l", ALL, "the mouse types" },
	{ "\033[?1005l\033[?1006l\033[?1015l\033[?1016l", ALL, "in which form it does" },
	{ "\033[?1004l", ALL, "the window's focus types" },
	{ "\033[?2004l", ALL, "a paste has marks around it; shells that want them ask anew" },
	{ "\033[?2031l", ALL, "a change of the colour scheme types" },
	{ "\033[?2048l", ALL, "a change of the size types" },
	{ "\0337\033[r\0338", ALL, "only a part scrolls; to undo that moves the cursor" },
	{ "\033[?7h", ALL, "long lines are cut" },
	{ "\033[4l\033[20l", ALL, "text is inserted; a new line is two" },
	{ "\033]8;;\033\\", RICH, "all that follows is a link" },
	{ "\017\033(B", ALL, "letters are drawn as lines" },
	{ "\033[0m", ALL, "colours; also for those that take the row of modifyOtherKeys for some" },
	{ "\033[?25h", ALL, "the cursor is hidden" },
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

const char *terminal_render_question(struct arena *arena, const struct terminal_question *question)
{
	return arena_printf(arena, "\0337\033[%uG\033[6n\033[%uG\033[6n\0338", question->columns[0],
			    question->columns[1]);
}

enum { ANSWER_NONE, ANSWER_ESCAPE, ANSWER_NUMBERS };

static void begin_numbers(struct terminal_question *question)
{
	question->state = ANSWER_NUMBERS;
	question->parameter = 0;
	question->parameters[0] = question->parameters[1] = 0;
}

// ESC [ ROW ; COLUMN R
static void take_answer(struct terminal_question *question, char byte)
{
	unsigned int *number = &question->parameters[question->parameter];

	if (byte == '\033') {
		question->state = ANSWER_ESCAPE;
	} else if (question->state == ANSWER_ESCAPE && byte == '[') {
		begin_numbers(question);
	} else if (question->state == ANSWER_NUMBERS && byte >= '0' && byte <= '9' &&
		   *number < 10000) {
		*number = *number * 10 + (unsigned int)(byte - '0');
	} else if (question->state == ANSWER_NUMBERS && byte == ';' && question->parameter == 0) {
		question->parameter = 1;
	} else {
		if (question->state == ANSWER_NUMBERS && byte == 'R' &&
		    question->parameters[1] == question->columns[question->answered])
			question->answered++;
		question->state = ANSWER_NONE;
	}
}

bool terminal_answered(struct terminal_question *question, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && question->answered < ARRAY_SIZE(question->columns); i++)
		take_answer(question, bytes[i]);
	return question->answered == ARRAY_SIZE(question->columns);
}
