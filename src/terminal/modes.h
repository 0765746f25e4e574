// SPDX-License-Identifier: MIT
// Modes of a terminal that the box may set. A mode is permitted only if it has a row here, and each
// row says how the mode is reset, so a permitted mode cannot stay set.
#pragma once

#include "base/text.h"
#include "terminal/reset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a mode gets its normal value.
enum mode_reset {
	MODE_OFF,        // CSI … l
	MODE_ON,         // CSI … h
	MODE_OFF_IF_SET, // CSI … l, but only after the box was seen to set or reset it
	MODE_ROW,        // by a row of terminal_resets
	MODE_NONE,       // the sequence acts once and sets nothing
};

struct screen_mode {
	int number;
	bool dec;   // a private mode: CSI ? …
	bool input; // changes what the terminal sends
	enum mode_reset reset;
	enum terminal_kind from, to; // the kinds of terminals that support it
	const char *reason;          // what the mode does
	const char *row;             // MODE_ROW: a part of that row
};

// At most 64 rows: a set of modes is a uint64_t.
extern const struct screen_mode terminal_modes[];
extern const size_t terminal_mode_count;

// Returns the index of a mode; terminal_mode_count: it is not permitted.
size_t terminal_mode_find(bool dec, int number);

// Returns the modes to reset after output that claudebox has not seen.
uint64_t terminal_modes_unknown(void);

// Returns the modes that change what the terminal sends.
uint64_t terminal_modes_input(void);

// The modes that the box has requested.
struct mode_record {
	uint64_t touched; // set or reset at least once
	uint64_t changed; // not at their normal value now
};

// Records "CSI … h" or "CSI … l"; `text` are the parameters, which are all permitted.
void mode_record_add(struct mode_record *modes, bool dec, bool on, const char *text, size_t length);
// Returns the rows of terminal_resets that reset these modes.
uint32_t modes_reset_rows(uint64_t modes);
// Adds the sequences that give these modes their normal value.
void modes_render_reset(struct text *out, uint64_t modes, enum terminal_kind kind);
// Adds the sequences that give these modes the other value again.
void modes_render_set(struct text *out, uint64_t modes, enum terminal_kind kind);
