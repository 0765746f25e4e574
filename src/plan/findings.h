// SPDX-License-Identifier: MIT
// What --check found, and what it looks like: to a person, in a pipe, as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"

#include <stdbool.h>
#include <stddef.h>

enum state { STATE_OK, STATE_MISSING, STATE_BROKEN, STATE_COUNT };

struct finding {
	enum state state;
	bool starts_without; // a box starts all the same, also where this is needed
	const char *detail;
	const char *fix; // how to cure it
};

struct finding_row {
	const char *name;
	const char *group; // the head that it stands under on a terminal
	bool required;     // no box starts without it
	struct finding found;
};
typedef VEC(struct finding_row) finding_rows;

// How many things keep a box from starting.
size_t findings_to_fix(const finding_rows *rows);

// A report on a terminal; else a line each, always in the same columns: scripts cut it.
const char *render_check(struct arena *arena, const finding_rows *rows, struct reader reader);
const char *render_check_json(struct arena *arena, const finding_rows *rows);
