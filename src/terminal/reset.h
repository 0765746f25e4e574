// SPDX-License-Identifier: MIT
// Sequences that reset the modes of a terminal, and a query that detects the end of its answers.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Kinds of terminals, by the sequences that they are known to support.
enum terminal_kind {
	TERMINAL_DUMB,        // has no modes: the box sets none and requests no answer
	TERMINAL_OTHER,       // unknown: only what the box has used is reset
	TERMINAL_CONSOLE,     // the Linux console: prints the end of an unknown sequence
	TERMINAL_MULTIPLEXER, // tmux and screen
	TERMINAL_EMULATOR,    // xterm, and terminals that are compatible with it
	TERMINAL_KIND_COUNT,
};

struct terminal_reset {
	const char *bytes;
	enum terminal_kind from, to; // the kinds that support it
	const char *reason;          // the mode that it resets, or why it is written this way
};
extern const struct terminal_reset terminal_resets[];
extern const size_t terminal_reset_count;

// Returns the kind for a value of TERM, which may be NULL. `multiplexed`: TMUX is set.
enum terminal_kind terminal_kind_of(const char *term, bool multiplexed);

// What the box has used and what has to be reset.
struct terminal_used {
	uint64_t modes; // set of rows of terminal_modes
	uint32_t rows;  // set of rows of terminal_resets, besides those of modes
};
// Returns the rows of terminal_resets that contain `part`; none for NULL and "".
uint32_t terminal_reset_rows(const char *part);
// Returns the resets of what was used. A terminal of a known kind gets all rows that it supports.
const char *terminal_render_reset(struct arena *arena, enum terminal_kind kind,
				  const struct terminal_used *used);

// A query that every terminal of a known kind answers, after it has answered all earlier ones: the
// cursor position at two columns. The columns are random, so answers to the agent's own queries do
// not match.
struct terminal_query {
	unsigned int columns[2];
	// State of the parser:
	size_t answered;            // columns whose answer was found
	unsigned int parameters[2]; // row and column of the current answer
	size_t parameter;
	int state;
};
const char *terminal_render_query(struct arena *arena, const struct terminal_query *query);
// Parses input of the terminal. Returns true once both answers were found; other input is skipped.
bool terminal_query_answered(struct terminal_query *query, const char *bytes, size_t count);
