// SPDX-License-Identifier: MIT
// The result of --check (UX-05): a doctor's report for a person, one plain line each for a pipe, JSON for scripts.
#pragma once

#include "base/arena.h"
#include "base/screen.h"

#include <stdbool.h>
#include <stddef.h>

enum finding_state { FINDING_OK, FINDING_MISSING, FINDING_BROKEN, FINDING_COUNT };

struct finding {
	enum finding_state state;
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
