// SPDX-License-Identifier: MIT
// Terminal filter: passes text and the escape sequences of a screen, and removes all other
// sequences.
//
// Theory of operation: the bytes run through a state machine that keeps a sequence until it is
// complete, looks it up in a table (rules.c), and passes it as a whole or not at all. A sequence
// that is not in a table does not pass. So the terminal never receives an incomplete or unknown
// sequence, or one that two parsers read differently.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FILTER_SEQUENCE_MAX = 4096 }; // length of the longest sequence that can pass

enum filter_state {
	FILTER_GROUND,
	FILTER_UTF8,      // inside a UTF-8 character
	FILTER_ESCAPE,    // after ESC, and after its intermediate bytes
	FILTER_CSI,       // control sequence
	FILTER_OSC,       // operating system command
	FILTER_OSC_ST,    // inside an OSC, after ESC
	FILTER_STRING,    // DCS, APC, PM, SOS, title of screen(1): never passes
	FILTER_STRING_ST, // inside such a string, after ESC
};

struct terminal_filter {
	bool utf8;        // set by the caller: the terminal reads bytes from 0x80 as UTF-8
	bool needs_reset; // a sequence has passed that may leave a mode set or be answered
	enum filter_state state;
	bool rejected;           // the current sequence cannot pass
	unsigned int missing;    // bytes that the current UTF-8 character still needs
	unsigned char low, high; // allowed range of the next of them
	size_t length;
	char sequence[FILTER_SEQUENCE_MAX]; // the current character or sequence
};

// The largest number of bytes that `count` bytes of input can become.
#define FILTER_OUTPUT_MAX(count) (3 * (count) + FILTER_SEQUENCE_MAX)

// Filters `count` bytes. `out` has room for FILTER_OUTPUT_MAX(count) bytes. Returns the number of
// bytes written to `out`.
size_t terminal_filter(struct terminal_filter *filter, const char *in, size_t count, char *out);

// Which parameters of a sequence a rule applies to.
enum filter_parameters {
	PARAMETERS_ANY,
	PARAMETERS_FIRST, // the first one is listed; an omitted one counts as 0
	PARAMETERS_ALL,   // all are listed
};

// A rule for ESC and CSI sequences.
struct filter_rule {
	const char *intermediates; // private prefix and intermediate bytes
	const char *finals;        // the rule applies to each of these final bytes
	const char *reason;        // what the sequence does, or why it does not pass
	const char *listed;        // parameters, as "4 20"
	enum filter_parameters parameters;
	bool pass;
	bool stateless; // sets no mode and requests no answer
};

// Which forms of an OSC sequence pass.
enum filter_form {
	FORM_NONE,
	FORM_QUERY,    // a query: "?" in place of a value
	FORM_LINK,     // a link to the web, or the end of a link
	FORM_PROGRESS, // "4", a state and a number
};

// A rule for OSC sequences.
struct filter_osc_rule {
	int number;
	enum filter_form form;
	const char *reason;
};
