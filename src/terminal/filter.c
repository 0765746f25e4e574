// SPDX-License-Identifier: MIT
// The state machine: splits a stream into characters and sequences, across any split of the writes.
#include "terminal/filter.h"

#include "terminal/rules.h"

#include <string.h>

enum {
	BEL = 0x07,
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
	DEL = 0x7f,
	FIRST_C1 = 0x80,
	LAST_C1 = 0x9f,
};

struct output {
	char *bytes;
	size_t length;
};

static void put(struct output *out, const char *bytes, size_t count)
{
	memcpy(out->bytes + out->length, bytes, count);
	out->length += count;
}

// What stands for a byte that is no text.
static void put_replacement(struct output *out)
{
	put(out, "\xef\xbf\xbd", 3);
}

static void drop(struct terminal_filter *filter)
{
	filter->state = FILTER_GROUND;
	filter->length = 0;
	filter->unfit = false;
}

static void hold(struct terminal_filter *filter, char byte)
{
	if (filter->length < FILTER_HELD)
		filter->held[filter->length++] = byte;
	else
		filter->unfit = true;
}

static void begin(struct terminal_filter *filter, enum filter_state state, char byte)
{
	drop(filter);
	filter->state = state;
	hold(filter, byte);
}

// The controls that move the cursor, the bell, and the choice between two character sets. Not ENQ, which the terminal
// answers, nor those that stop and start it.
static bool control_passes(unsigned char byte)
{
	return (byte >= BEL && byte <= 0x0f) || byte >= ' ';
}

// How a character of UTF-8 goes on; false: none begins so.
static bool begin_rune(struct terminal_filter *filter, unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return false;
	begin(filter, FILTER_RUNE, (char)byte);
	filter->more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	// The shortest form only, no surrogates, nothing beyond U+10FFFF.
	filter->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	filter->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	return true;
}

static void take_ground(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	char same = (char)byte;

	if (byte == ESC)
		begin(filter, FILTER_ESCAPE, same);
	else if ((byte < DEL && control_passes(byte)) || (!filter->utf8 && byte > LAST_C1))
		put(out, &same, 1);
	else if (filter->utf8 && byte >= FIRST_C1 && !begin_rune(filter, byte))
		put_replacement(out);
}

// False: the byte is not part of the character and has to be looked at again.
static bool take_rune(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (byte < filter->low || byte > filter->high) {
		put_replacement(out);
		drop(filter);
		return false;
	}
	hold(filter, (char)byte);
	filter->low = 0x80;
	filter->high = 0xbf;
	if (--filter->more)
		return true;
	// U+0080 to U+009F are controls, and begin sequences, on many terminals.
	if ((unsigned char)filter->held[0] != 0xc2 || byte > LAST_C1)
		put(out, filter->held, filter->length);
	drop(filter);
	return true;
}

static void finish(struct terminal_filter *filter, bool passes, bool plain, struct output *out)
{
	if (passes && !filter->unfit) {
		put(out, filter->held, filter->length);
		filter->touched |= !plain;
	}
	drop(filter);
}

static void take_escape(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	bool plain = false;
	bool passes;

	hold(filter, (char)byte);
	if (byte < '0')
		return;
	if (filter->length == 2 && byte == '[') {
		filter->state = FILTER_CONTROL;
	} else if (filter->length == 2 && byte == ']') {
		filter->state = FILTER_COMMAND;
	} else if (filter->length == 2 && strchr("PX^_k", byte)) {
		filter->state = FILTER_STRING;
	} else {
		passes = filter_escape_passes(filter->held, filter->length, &plain);
		finish(filter, passes, plain, out);
	}
}

static void take_control(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	bool plain = false;
	bool passes;

	hold(filter, (char)byte);
	if (byte < '@')
		return;
	passes = !filter->unfit && filter_control_passes(filter->held, filter->length, &plain);
	finish(filter, passes, plain, out);
}

static void end_command(struct terminal_filter *filter, const char *end, struct output *out)
{
	bool plain = false;
	bool passes = !filter->unfit &&
		      filter_command_passes(filter->held + 2, filter->length - 2, &plain);

	if (passes) {
		put(out, filter->held, filter->length);
		put(out, end, strlen(end));
		filter->touched |= !plain;
	}
	drop(filter);
}

static void take_command(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (byte == BEL)
		end_command(filter, "\a", out);
	else if (byte >= ' ' && byte < DEL)
		hold(filter, (char)byte);
	else
		filter->unfit = true;
}

// After ESC in a string: its end, or, as ESC ends it in any case, another sequence.
static void take_end(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (byte == '\\' && filter->state == FILTER_COMMAND_ST) {
		end_command(filter, "\033\\", out);
	} else if (byte == '\\') {
		drop(filter);
	} else {
		begin(filter, FILTER_ESCAPE, ESC);
		take_escape(filter, byte, out);
	}
}

// What ends a sequence or a string wherever it stands; true: the byte is done with.
static bool take_abort(struct terminal_filter *filter, unsigned char byte)
{
	bool string = filter->state == FILTER_COMMAND || filter->state == FILTER_STRING;

	if (byte == ESC && string) {
		filter->state = filter->state == FILTER_COMMAND ? FILTER_COMMAND_ST
								: FILTER_STRING_ST;
		return true;
	}
	if (byte == ESC) {
		begin(filter, FILTER_ESCAPE, ESC);
		return true;
	}
	if (byte == CAN || byte == SUB) {
		drop(filter);
		return true;
	}
	// A control or a letter of no alphabet in the middle: not everybody reads on in the same way.
	if (!string && (byte < ' ' || byte >= DEL))
		drop(filter);
	return false;
}

static void take(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (filter->state == FILTER_RUNE && take_rune(filter, byte, out))
		return;
	if (filter->state != FILTER_GROUND && take_abort(filter, byte))
		return;
	switch (filter->state) {
	case FILTER_GROUND:
	case FILTER_RUNE: // was left above
		take_ground(filter, byte, out);
		return;
	case FILTER_ESCAPE:
		take_escape(filter, byte, out);
		return;
	case FILTER_CONTROL:
		take_control(filter, byte, out);
		return;
	case FILTER_COMMAND:
		take_command(filter, byte, out);
		return;
	case FILTER_COMMAND_ST:
	case FILTER_STRING_ST:
		take_end(filter, byte, out);
		return;
	case FILTER_STRING:
		return;
	}
}

size_t terminal_filter(struct terminal_filter *filter, const char *in, size_t count, char *out)
{
	struct output output = { 0 };

	output.bytes = out;
	for (size_t i = 0; i < count;) {
		size_t run = 0;

		// Most of it is text.
		while (filter->state == FILTER_GROUND && i + run < count && in[i + run] >= ' ' &&
		       in[i + run] < DEL)
			run++;
		if (run)
			put(&output, in + i, run);
		else
			take(filter, (unsigned char)in[i++], &output);
		i += run;
	}
	return output.length;
}
