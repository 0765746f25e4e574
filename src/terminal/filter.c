// SPDX-License-Identifier: MIT
// State machine of the terminal filter: splits a stream into characters and sequences, however it
// is divided into writes.
#include "terminal/filter.h"

#include "config/config.h"
#include "terminal/modes.h"
#include "terminal/payload.h"
#include "terminal/reset.h"
#include "terminal/rules.h"

#include <string.h>

enum {
	BEL = 0x07,
	LF = 0x0a,
	CR = 0x0d,
	SO = 0x0e,
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
	DEL = 0x7f,
	FIRST_C1 = 0x80,
	LAST_C1 = 0x9f,
};

struct filter_output {
	char *bytes;
	size_t length;
};

static void output_add(struct filter_output *out, const char *bytes, size_t count)
{
	memcpy(out->bytes + out->length, bytes, count);
	out->length += count;
}

// Adds U+FFFD in place of a byte that is not valid UTF-8.
static void output_add_replacement(struct filter_output *out)
{
	output_add(out, "\xef\xbf\xbd", 3);
}

// Discards the current sequence.
static void reset_state(struct terminal_filter *filter)
{
	filter->state = FILTER_GROUND;
	filter->length = 0;
	filter->rejected = filter->overflow = filter->unclean = false;
}

// Returns the buffer of the current character or sequence.
static char *sequence_of(struct terminal_filter *filter)
{
	return filter->large ? filter->large : filter->small;
}

static void sequence_add(struct terminal_filter *filter, char byte)
{
	size_t size = filter->large ? filter->large_size : sizeof(filter->small);

	if (filter->length < size)
		sequence_of(filter)[filter->length++] = byte;
	else
		filter->overflow = true;
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
static bool control_passes(struct terminal_filter *filter, unsigned char byte)
{
	if (byte == BEL)
		return filter->allowed & TERMINAL_BIT(TERMINAL_NOTIFY);
	if (byte == SO) { // some terminals draw lines in place of letters until SI
		if (filter->background)
			return false;
		filter->needs_reset = true;
		filter->rows |= terminal_reset_rows("\017") | terminal_reset_rows("\033)B");
		return true;
	}
	return (byte > BEL && byte <= 0x0f) || byte >= ' ';
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

static void handle_ground(struct terminal_filter *filter, unsigned char byte,
			  struct filter_output *out)
{
	char text = (char)byte;

	if (byte == ESC)
		begin_sequence(filter, FILTER_ESCAPE, text);
	else if ((byte < DEL && control_passes(filter, byte)) || (!filter->utf8 && byte > LAST_C1))
		output_add(out, &text, 1);
	else if (filter->utf8 && byte >= FIRST_C1 && !begin_utf8(filter, byte))
		output_add_replacement(out);
}

// Returns false if the byte is not part of the character; the caller then handles it in the ground
// state.
static bool handle_utf8(struct terminal_filter *filter, unsigned char byte,
			struct filter_output *out)
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
	if ((unsigned char)sequence_of(filter)[0] != 0xc2 || byte > LAST_C1)
		output_add(out, sequence_of(filter), filter->length);
	reset_state(filter);
	return true;
}

// Returns whether a sequence passes in the current situation, and records that it did.
static bool admit(struct terminal_filter *filter, const struct filter_result *result)
{
	unsigned int refused = result->needs & ~filter->allowed;

	if (!result->pass || filter->rejected)
		return false;
	if (refused || filter->overflow) {
		for (int class = 0; class < TERMINAL_CLASS_COUNT && !result->part; class ++)
			filter->dropped[class] += result->needs >> class & 1;
		return false;
	}
	if (filter->no_input && (result->query || result->input))
		return false;
	if (filter->background && !result->stateless)
		return false;
	if (result->query && filter->query_limit &&
	    filter->queries + result->query > filter->query_limit)
		return false;
	filter->queries += result->query;
	filter->needs_reset |= !result->stateless;
	filter->rows |= terminal_reset_rows(result->reset);
	return true;
}

static void end_sequence(struct terminal_filter *filter, const struct filter_result *result,
			 struct filter_output *out)
{
	if (admit(filter, result))
		output_add(out, sequence_of(filter), filter->length);
	reset_state(filter);
}

static void handle_escape(struct terminal_filter *filter, unsigned char byte,
			  struct filter_output *out)
{
	struct filter_result result;

	sequence_add(filter, (char)byte);
	if (byte < '0')
		return;
	if (filter->length == 2 && byte == '[') {
		filter->state = FILTER_CSI;
	} else if (filter->length == 2 && byte == ']') {
		filter->state = FILTER_OSC;
	} else if (filter->length == 2 && strchr("PX^_k", byte)) {
		filter->state = FILTER_STRING;
		filter->rejected = byte != 'P' && byte != '_';
	} else {
		if (filter->length == 2 && byte == 'c') // resets all modes
			filter->modes.changed = 0;
		result = filter_escape(sequence_of(filter), filter->length);
		end_sequence(filter, &result, out);
	}
}

// Records the modes that a sequence sets.
static void record_modes(struct terminal_filter *filter)
{
	const char *sequence = sequence_of(filter);
	char final = sequence[filter->length - 1];
	bool dec = sequence[2] == '?';

	if (final == 'h' || final == 'l')
		mode_record_add(&filter->modes, dec, final == 'h', sequence + 2 + dec,
				filter->length - 3 - dec);
}

static void handle_csi(struct terminal_filter *filter, unsigned char byte,
		       struct filter_output *out)
{
	struct filter_result result = { 0 };

	sequence_add(filter, (char)byte);
	if (byte < '@')
		return;
	if (!filter->overflow)
		result = filter_csi(sequence_of(filter), filter->length);
	if (result.pass && !(filter->no_input && result.input))
		record_modes(filter);
	end_sequence(filter, &result, out);
}

// `terminator` is BEL or ST, as the program wrote it.
static void end_osc(struct terminal_filter *filter, const char *terminator,
		    struct filter_output *out)
{
	char *payload = sequence_of(filter) + 2;
	struct filter_result result;
	size_t most;

	if (filter_osc_is_text(payload, filter->length - 2, &most)) {
		filter->length = 2 + payload_clean(payload, filter->length - 2, filter->utf8, most);
		filter->overflow = false; // shortened
	} else if (filter->unclean) {
		filter->rejected = true;
	}
	result = filter_osc(payload, filter->length - 2);
	if (admit(filter, &result)) {
		output_add(out, sequence_of(filter), filter->length);
		output_add(out, terminator, strlen(terminator));
	}
	reset_state(filter);
}

static void handle_osc(struct terminal_filter *filter, unsigned char byte,
		       struct filter_output *out)
{
	if (byte == BEL) {
		end_osc(filter, "\a", out);
		return;
	}
	filter->unclean |= byte < ' ' || byte >= DEL;
	sequence_add(filter, (char)byte);
}

// Ends a DCS or APC sequence.
static void end_string(struct terminal_filter *filter, struct filter_output *out)
{
	const char *payload = sequence_of(filter) + 2;
	size_t length = filter->length - 2;
	bool apc = payload[-1] == '_';
	struct filter_result result = apc ? filter_apc(payload, length)
					  : filter_dcs(payload, length);

	if (admit(filter, &result)) {
		output_add(out, payload - 2, 2);
		if (apc)
			out->length +=
				payload_silence_kitty(payload, length, out->bytes + out->length);
		else
			output_add(out, payload, length);
		output_add(out, "\033\\", 2);
	}
	reset_state(filter);
}

static void handle_string(struct terminal_filter *filter, unsigned char byte)
{
	if (byte >= ' ' && byte < DEL)
		sequence_add(filter, (char)byte);
	else if (byte != CR && byte != LF) // sixel images may contain line breaks
		filter->rejected = true;
}

// Handles the byte after ESC in a string: "\\" completes ST; any other byte begins another
// sequence, since ESC ends a string in any case.
static void handle_string_end(struct terminal_filter *filter, unsigned char byte,
			      struct filter_output *out)
{
	if (byte == '\\' && filter->state == FILTER_OSC_ST) {
		end_osc(filter, "\033\\", out);
	} else if (byte == '\\') {
		end_string(filter, out);
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

static void handle_byte(struct terminal_filter *filter, unsigned char byte,
			struct filter_output *out)
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
		handle_string(filter, byte);
		return;
	}
}

// Returns the number of bytes at the beginning that pass in the ground state, whatever is allowed:
// printable ASCII, and the usual controls of lines.
static size_t plain_length(const char *in, size_t count)
{
	static const bool plain[256] = {
		['\t'] = true, ['\n'] = true, ['\r'] = true, [' ' ... '~'] = true
	};
	size_t i = 0;

	while (i < count && plain[(unsigned char)in[i]])
		i++;
	return i;
}

size_t terminal_filter(struct terminal_filter *filter, const char *in, size_t count, char *out)
{
	struct filter_output output = { 0 };

	output.bytes = out;
	for (size_t i = 0; i < count;) {
		// Most of the output is text: it is copied without the state machine.
		size_t run = filter->state == FILTER_GROUND ? plain_length(in + i, count - i) : 0;

		if (run)
			output_add(&output, in + i, run);
		else
			handle_byte(filter, (unsigned char)in[i++], &output);
		i += run;
	}
	return output.length;
}
