// SPDX-License-Identifier: MIT
// Terminal filter: passes text and the escape sequences of a screen, and removes all other
// sequences.
//
// Theory of operation: the bytes run through a state machine that keeps a sequence until it is
// complete, looks it up in a table (rules.c), and passes it as a whole or not at all. A sequence
// that is not in a table does not pass. So the terminal never receives an incomplete or unknown
// sequence, or one that two parsers read differently.
#pragma once

#include "config/config.h"
#include "terminal/modes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_SEQUENCE_MAX = 4096 }; // length of the longest sequence without a larger buffer

enum filter_state {
	FILTER_GROUND,
	FILTER_UTF8,      // inside a UTF-8 character
	FILTER_ESCAPE,    // after ESC, and after its intermediate bytes
	FILTER_CSI,       // control sequence
	FILTER_OSC,       // operating system command
	FILTER_OSC_ST,    // inside an OSC, after ESC
	FILTER_STRING,    // DCS and APC; PM, SOS and the title of screen(1), which never pass
	FILTER_STRING_ST, // inside such a string, after ESC
};

struct terminal_filter {
	// Set by the caller:
	bool utf8;            // the terminal reads bytes from 0x80 as UTF-8
	bool background;      // only sequences that set no mode and request no answer pass
	bool no_input;        // the box does not get the input: no sequence that changes it passes
	unsigned int allowed; // set of enum terminal_class
	unsigned int query_limit; // the largest value of `queries`; 0: no limit
	char *large;              // buffer for long sequences, NULL: none
	size_t large_size;
	// Results:
	bool needs_reset;     // a sequence has passed that may leave a mode set or be answered
	unsigned int queries; // answers that have been requested
	unsigned int dropped[TERMINAL_CLASS_COUNT]; // sequences that another `allowed` would pass
	struct mode_record modes;                   // requested, also in the background
	uint32_t rows; // of terminal_resets: they reset what has passed
	// State:
	enum filter_state state;
	bool rejected;           // the current sequence cannot pass
	bool overflow;           // the current sequence is too long
	bool unclean;            // the current string contains bytes that are not printable ASCII
	unsigned int missing;    // bytes that the current UTF-8 character still needs
	unsigned char low, high; // allowed range of the next of them
	size_t length;
	char small[FILTER_SEQUENCE_MAX]; // the current character or sequence, without `large`
};

// The largest number of bytes that `count` bytes of input can become, if the buffer for sequences
// has `size` bytes.
#define FILTER_OUTPUT_MAX(size, count) (3 * (size_t)(count) + (size) + 16)

// Filters `count` bytes. `out` has room for FILTER_OUTPUT_MAX bytes. Returns the number of bytes
// written to `out`.
size_t terminal_filter(struct terminal_filter *filter, const char *in, size_t count, char *out);
