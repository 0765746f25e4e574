// SPDX-License-Identifier: MIT
// Table of the modes that the box may set, and a record of those that it has set.
#include "terminal/modes.h"

#include "base/arena.h"
#include "base/text.h"
#include "terminal/reset.h"

#define ALL TERMINAL_CONSOLE, TERMINAL_EMULATOR

const struct screen_mode terminal_modes[] = {
	{ 4, false, false, MODE_OFF, ALL, "insert mode" },
	{ 20, false, false, MODE_OFF, ALL, "newline mode" },
	{ 2026, true, false, MODE_ROW, ALL,
	  "synchronized update: the screen is not drawn until it ends", "[?2026l" },
	{ 1, true, true, MODE_OFF, ALL, "cursor keys send other codes" },
	{ 5, true, false, MODE_OFF, ALL, "reverse video, for a visible bell" },
	{ 7, true, false, MODE_ON, ALL, "wrapping of long lines" },
	{ 9, true, true, MODE_OFF, ALL, "mouse events become input" },
	{ 12, true, false, MODE_OFF_IF_SET, ALL, "blinking cursor; some users have it set" },
	{ 45, true, false, MODE_OFF, ALL, "the cursor moves back to the end of the line above" },
	{ 47, true, false, MODE_ROW, ALL, "the alternate screen", "[?1049l" },
	{ 66, true, true, MODE_ROW, ALL, "the keypad sends other codes", "\033>" },
	{ 69, true, false, MODE_ROW, ALL, "left and right margins", "[?69l" },
	{ 1000, true, true, MODE_OFF, ALL, "mouse events become input" },
	{ 1002, true, true, MODE_OFF, ALL, "mouse events become input" },
	{ 1003, true, true, MODE_OFF, ALL, "mouse events become input" },
	{ 1004, true, true, MODE_OFF, ALL, "focus changes become input" },
	{ 1005, true, true, MODE_OFF, ALL, "the format of mouse events" },
	{ 1006, true, true, MODE_OFF, ALL, "the format of mouse events" },
	{ 1015, true, true, MODE_OFF, ALL, "the format of mouse events" },
	{ 1016, true, true, MODE_OFF, ALL, "the format of mouse events" },
	{ 1047, true, false, MODE_ROW, ALL, "the alternate screen", "[?1049l" },
	{ 1048, true, false, MODE_NONE, ALL, "saves and restores the cursor" },
	{ 1049, true, false, MODE_ROW, ALL, "the alternate screen", "[?1049l" },
	{ 2004, true, true, MODE_OFF, ALL, "bracketed paste; a shell that uses it sets it again" },
	{ 2027, true, false, MODE_OFF, ALL, "the width of composed characters" },
	{ 2031, true, true, MODE_OFF, ALL, "colour scheme changes become input" },
	{ 2048, true, true, MODE_OFF, ALL, "size changes become input" },
	// The cursor is made visible last.
	{ 25, true, false, MODE_ON, ALL, "the cursor" },
};
const size_t terminal_mode_count = ARRAY_SIZE(terminal_modes);
_Static_assert(ARRAY_SIZE(terminal_modes) <= 64, "a set of modes is a uint64_t");

uint64_t terminal_modes_unknown(void)
{
	uint64_t modes = 0;

	for (size_t i = 0; i < terminal_mode_count; i++)
		if (terminal_modes[i].reset != MODE_OFF_IF_SET)
			modes |= (uint64_t)1 << i;
	return modes;
}

size_t terminal_mode_find(bool dec, int number)
{
	size_t i = 0;

	while (i < terminal_mode_count &&
	       (terminal_modes[i].number != number || terminal_modes[i].dec != dec))
		i++;
	return i;
}

uint64_t terminal_modes_input(void)
{
	uint64_t modes = 0;

	for (size_t i = 0; i < terminal_mode_count; i++)
		if (terminal_modes[i].input)
			modes |= (uint64_t)1 << i;
	return modes;
}

static void record(struct mode_record *modes, size_t index, bool on)
{
	const struct screen_mode *mode = &terminal_modes[index];
	uint64_t bit = (uint64_t)1 << index;

	if (mode->reset == MODE_NONE)
		return;
	modes->touched |= bit;
	if (on == (mode->reset == MODE_ON))
		modes->changed &= ~bit;
	else
		modes->changed |= bit;
}

void mode_record_add(struct mode_record *modes, bool dec, bool on, const char *text, size_t length)
{
	int number = 0;

	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] != ';') {
			number = number > 99999 ? number : number * 10 + (text[i] - '0');
			continue;
		}
		if (terminal_mode_find(dec, number) < terminal_mode_count)
			record(modes, terminal_mode_find(dec, number), on);
		number = 0;
	}
}

static void add(struct text *out, const struct screen_mode *mode, bool on)
{
	text_printf(out, "\033[%s%d%c", mode->dec ? "?" : "", mode->number, on ? 'h' : 'l');
}

uint32_t modes_reset_rows(uint64_t modes)
{
	uint32_t rows = 0;

	for (size_t i = 0; i < terminal_mode_count; i++)
		if (modes >> i & 1)
			rows |= terminal_reset_rows(terminal_modes[i].row);
	return rows;
}

// Returns whether a terminal of that kind supports a mode. An unknown one gets the modes that the
// box has used.
static bool is_supported(const struct screen_mode *mode, enum terminal_kind kind)
{
	return kind == TERMINAL_OTHER || (kind >= mode->from && kind <= mode->to);
}

void modes_render_reset(struct text *out, uint64_t modes, enum terminal_kind kind)
{
	for (size_t i = 0; i < terminal_mode_count; i++) {
		const struct screen_mode *mode = &terminal_modes[i];

		if (modes >> i & 1 && is_supported(mode, kind) && mode->reset < MODE_ROW)
			add(out, mode, mode->reset == MODE_ON);
	}
}

void modes_render_set(struct text *out, uint64_t modes, enum terminal_kind kind)
{
	for (size_t i = 0; i < terminal_mode_count; i++) {
		const struct screen_mode *mode = &terminal_modes[i];

		// A synchronized update that is begun again would hide the screen.
		if (modes >> i & 1 && is_supported(mode, kind) && mode->number != 2026)
			add(out, mode, mode->reset != MODE_ON);
	}
}
