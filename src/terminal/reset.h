// SPDX-License-Identifier: MIT
// What brings a terminal back to how a shell wants it, whatever a program left on.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// How much of the language a terminal is known to understand.
enum terminal_kind {
	TERMINAL_OTHER,       // nothing is known: nothing is written
	TERMINAL_CONSOLE,     // Linux's own: shows the end of what it does not know
	TERMINAL_MULTIPLEXER, // tmux and screen
	TERMINAL_EMULATOR,    // xterm, and all that say they are like it
	TERMINAL_KIND_COUNT,
};

struct terminal_reset {
	const char *bytes;
	enum terminal_kind from, to; // for these
	const char *why;             // what is wrong if it stays, or why it is written so
};
extern const struct terminal_reset terminal_resets[];
extern const size_t terminal_reset_count;

// `multiplexed`: there is a sign of tmux, whatever TERM says.
enum terminal_kind terminal_kind_of(const char *term, bool multiplexed);
// All of it, or "".
const char *terminal_render_reset(struct arena *arena, enum terminal_kind kind);

// A question that every such terminal answers, after all that were asked before: where is the cursor, at two columns of
// our choice. Nobody else has asked the same if they were chosen by chance.
struct terminal_question {
	unsigned int columns[2];
	// How far the answer has come.
	size_t answered;
	unsigned int parameters[2];
	size_t parameter;
	int state;
};
const char *terminal_render_question(struct arena *arena, const struct terminal_question *question);
// True: it is there. What else is among the bytes does not matter.
bool terminal_answered(struct terminal_question *question, const char *bytes, size_t count);
