// SPDX-License-Identifier: MIT
// State machine of the terminal filter: splits a stream into characters and sequences, however it
// is divided into writes.
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

static void output_add(struct output *out, const char *bytes, size_t count)
{
	memcpy(out->bytes + out->length, bytes, count);
	out->length += count;
}

// Adds U+FFFD in place of a byte that is not valid UTF-8.
static void output_add_replacement(struct output *out)
{
	output_add(out, "\xef\xbf\xbd", 3);
}

// Discards the current sequence.
static void reset_state(struct terminal_filter *filter)
{
	filter->state = FILTER_GROUND;
	filter->length = 0;
	filter->rejected = false;
}

static void sequence_add(struct terminal_filter *filter, char byte)
{
	if (filter->length < FILTER_SEQUENCE_MAX)
		filter->sequence[filter->length++] = byte;
	else
		filter->rejected = true;
}

static void begin_sequence(struct terminal_filter *filter, enum filter_state state, char byte)
{
	reset_state(filter);
	filter->state = state;
	sequence_add(filter, byte);
}

// Returns whether a byte below DEL passes: the bell, controls that move the cursor or select a
// character set, and text. ENQ requests an answer, XON and XOFF control the output: they do not
// pass.
static bool control_passes(unsigned char byte)
{
	return (byte >= BEL && byte <= 0x0f) || byte >= ' ';
}

// Begins a UTF-8 character. Returns false if none starts with this byte.
static bool begin_utf8(struct terminal_filter *filter, unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return false;
	begin_sequence(filter, FILTER_UTF8, (char)byte);
	filter->missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	// Excludes overlong forms, surrogates, and values above U+10FFFF.
	filter->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	filter->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	return true;
}

static void handle_ground(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	char text = (char)byte;

	if (byte == ESC)
		begin_sequence(filter, FILTER_ESCAPE, text);
	else if ((byte < DEL && control_passes(byte)) || (!filter->utf8 && byte > LAST_C1))
		output_add(out, &text, 1);
	else if (filter->utf8 && byte >= FIRST_C1 && !begin_utf8(filter, byte))
		output_add_replacement(out);
}

// Returns false if the byte is not part of the character; the caller then handles it in the ground
// state.
static bool handle_utf8(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (byte < filter->low || byte > filter->high) {
		output_add_replacement(out);
		reset_state(filter);
		return false;
	}
	sequence_add(filter, (char)byte);
	filter->low = 0x80;
	filter->high = 0xbf;
	if (--filter->missing)
		return true;
	// U+0080 to U+009F are control characters on many terminals, and some begin sequences.
	if ((unsigned char)filter->sequence[0] != 0xc2 || byte > LAST_C1)
		output_add(out, filter->sequence, filter->length);
	reset_state(filter);
	return true;
}

static void end_sequence(struct terminal_filter *filter, bool passes, bool stateless,
			 struct output *out)
{
	if (passes && !filter->rejected) {
		output_add(out, filter->sequence, filter->length);
		filter->needs_reset |= !stateless;
	}
	reset_state(filter);
}

static void handle_escape(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	bool stateless = false;
	bool passes;

	sequence_add(filter, (char)byte);
	if (byte < '0')
		return;
	if (filter->length == 2 && byte == '[') {
		filter->state = FILTER_CSI;
	} else if (filter->length == 2 && byte == ']') {
		filter->state = FILTER_OSC;
	} else if (filter->length == 2 && strchr("PX^_k", byte)) {
		filter->state = FILTER_STRING;
	} else {
		passes = filter_escape_passes(filter->sequence, filter->length, &stateless);
		end_sequence(filter, passes, stateless, out);
	}
}

static void handle_csi(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	bool stateless = false;
	bool passes;

	sequence_add(filter, (char)byte);
	if (byte < '@')
		return;
	passes = !filter->rejected &&
		 filter_csi_passes(filter->sequence, filter->length, &stateless);
	end_sequence(filter, passes, stateless, out);
}

// `terminator` is BEL or ST, as the program wrote it.
static void end_osc(struct terminal_filter *filter, const char *terminator, struct output *out)
{
	bool stateless = false;
	bool passes = !filter->rejected &&
		      filter_osc_passes(filter->sequence + 2, filter->length - 2, &stateless);

	if (passes) {
		output_add(out, filter->sequence, filter->length);
		output_add(out, terminator, strlen(terminator));
		filter->needs_reset |= !stateless;
	}
	reset_state(filter);
}

static void handle_osc(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (byte == BEL)
		end_osc(filter, "\a", out);
	else if (byte >= ' ' && byte < DEL)
		sequence_add(filter, (char)byte);
	else
		filter->rejected = true;
}

// Handles the byte after ESC in a string: "\\" completes ST; any other byte begins another
// sequence, since ESC ends a string in any case.
static void handle_string_end(struct terminal_filter *filter, unsigned char byte,
			      struct output *out)
{
	if (byte == '\\' && filter->state == FILTER_OSC_ST) {
		end_osc(filter, "\033\\", out);
	} else if (byte == '\\') {
		reset_state(filter);
	} else {
		begin_sequence(filter, FILTER_ESCAPE, ESC);
		handle_escape(filter, byte, out);
	}
}

// Handles a byte that ends a sequence or a string at any position. Returns true if the byte is
// consumed.
static bool handle_abort(struct terminal_filter *filter, unsigned char byte)
{
	bool string = filter->state == FILTER_OSC || filter->state == FILTER_STRING;

	if (byte == ESC && string) {
		filter->state = filter->state == FILTER_OSC ? FILTER_OSC_ST : FILTER_STRING_ST;
		return true;
	}
	if (byte == ESC) {
		begin_sequence(filter, FILTER_ESCAPE, ESC);
		return true;
	}
	if (byte == CAN || byte == SUB) {
		reset_state(filter);
		return true;
	}
	// Terminals disagree on how a control character or a byte from DEL on inside a sequence is
	// read.
	if (!string && (byte < ' ' || byte >= DEL))
		reset_state(filter);
	return false;
}

static void handle_byte(struct terminal_filter *filter, unsigned char byte, struct output *out)
{
	if (filter->state == FILTER_UTF8 && handle_utf8(filter, byte, out))
		return;
	if (filter->state != FILTER_GROUND && handle_abort(filter, byte))
		return;
	switch (filter->state) {
	case FILTER_GROUND:
	case FILTER_UTF8: // handle_utf8() has left this state
		handle_ground(filter, byte, out);
		return;
	case FILTER_ESCAPE:
		handle_escape(filter, byte, out);
		return;
	case FILTER_CSI:
		handle_csi(filter, byte, out);
		return;
	case FILTER_OSC:
		handle_osc(filter, byte, out);
		return;
	case FILTER_OSC_ST:
	case FILTER_STRING_ST:
		handle_string_end(filter, byte, out);
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

		// Most of the output is text: it is copied without the state machine.
		while (filter->state == FILTER_GROUND && i + run < count && in[i + run] >= ' ' &&
		       in[i + run] < DEL)
			run++;
		if (run)
			output_add(&output, in + i, run);
		else
			handle_byte(filter, (unsigned char)in[i++], &output);
		i += run;
	}
	return output.length;
}
