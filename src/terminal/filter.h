// SPDX-License-Identifier: MIT
// What a program may write to somebody else's terminal: text, colours and what a screen needs, and nothing that acts outside.
//
// Theory of operation: the bytes run through a state machine that holds a sequence back until it is complete, looks it up
// in a table and lets it pass as a whole or not at all. What is not in the table does not pass. So the terminal never
// sees half a sequence, an unknown one, or one that two parsers could read differently.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FILTER_HELD = 4096 }; // the longest sequence that can pass

enum filter_state {
	FILTER_GROUND,
	FILTER_RUNE,       // inside a UTF-8 character
	FILTER_ESCAPE,     // after ESC, and after its intermediate bytes
	FILTER_CONTROL,    // CSI
	FILTER_COMMAND,    // OSC
	FILTER_COMMAND_ST, // OSC, after ESC
	FILTER_STRING,     // DCS, APC, PM, SOS, titles of screen: never passes
	FILTER_STRING_ST,  // the same, after ESC
};

struct terminal_filter {
	bool utf8;    // set by the caller: what the terminal takes bytes from 0x80 for
	bool touched; // something has passed that may leave a mode on, or be answered
	enum filter_state state;
	bool unfit;              // the sequence cannot pass, whatever it is
	unsigned int more;       // bytes that the character still needs
	unsigned char low, high; // the next of them is between these
	size_t length;
	char held[FILTER_HELD];
};

// Bytes that `count` bytes of input can become.
#define FILTER_ROOM(count) (3 * (count) + FILTER_HELD)

// Returns the number of bytes written to `out`.
size_t terminal_filter(struct terminal_filter *filter, const char *in, size_t count, char *out);

enum filter_parameters {
	PARAMETERS_ANY,
	PARAMETERS_FIRST, // the first is among the listed; one that is left out counts as 0
	PARAMETERS_ALL,   // all are
};

struct filter_rule {
	const char *before; // private prefix or intermediate bytes
	const char *finals; // any of these
	const char *why;
	const char *listed; // "4 20"; the row is for these only
	enum filter_parameters parameters;
	bool pass;
	bool plain; // leaves nothing behind
};

enum filter_form {
	FORM_NONE,     // does not pass
	FORM_QUERY,    // only the question: "?" for a value
	FORM_LINK,     // only to the web, or the end of one
	FORM_PROGRESS, // only "4", a state and a number
};
struct filter_command {
	int number;
	enum filter_form form;
	const char *why;
};
