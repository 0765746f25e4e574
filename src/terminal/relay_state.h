// SPDX-License-Identifier: MIT
// The state of the terminal relay, shared by its setup and its data path.
#pragma once

#include "terminal/filter.h"
#include "terminal/relay.h"
#include "terminal/reset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// A pseudo-terminal returns no more at once.
enum { RELAY_CHUNK = 4096 };

struct buffer {
	char *bytes;
	size_t at, length;
};

// How the user's terminal is read.
enum input {
	INPUT_NONE,  // not at all
	INPUT_LINES, // in its own modes, which other programs of a pipeline use too
	INPUT_RAW,   // in raw mode
};

struct terminal_relay {
	int master; // -1: no descriptor of the box is a terminal, or the terminal relay has ended
	int slave;
	bool standard[STDERR_FILENO + 1]; // descriptors 0 to 2 that are terminals
	enum input input;
	bool reading; // claudebox reads the user's terminal; if INPUT_RAW, it is in raw mode
	bool hung_up; // the user's terminal has hung up
	enum terminal_kind kind;
	struct terminal_filter filter;
	int64_t query_second;        // when the current second of the limit on queries began
	int64_t last_query;          // when a query last passed
	unsigned int second_queries; // `queries` of the filter when that second began
	unsigned int input_queries;  // `queries` of the filter when input last arrived
	bool answers;                // the terminal has answered a query
	struct buffer in, out;
	char in_bytes[RELAY_CHUNK];
};

// Returns whether the user's terminal does not process output while claudebox reads it. Other
// programs of a pipeline may write to the terminal, and need its output processing.
bool relay_is_raw_output(const struct terminal_relay *relay);
