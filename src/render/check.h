// SPDX-License-Identifier: MIT
// Renders the result of --check: grouped for a terminal, one line each for a pipe, or JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

enum finding_state { FINDING_OK, FINDING_MISSING, FINDING_BROKEN, FINDING_COUNT };

struct finding {
	enum finding_state state;
	bool starts_without; // a box starts although the check is required and not ok
	const char *detail;
	const char *fix;
};

struct finding_row {
	const char *name;
	const char *group; // heading on a terminal
	bool required;     // no box starts if the check is not ok
	struct finding found;
};
typedef VEC(struct finding_row) finding_rows;

// The plan of the box that would start here.
struct check_plan {
	const struct plan *plan; // NULL: there is none
	const char *problem;     // why
};

// Returns how many rows prevent a box from starting.
size_t findings_to_fix(const finding_rows *rows);
// Renders the rows in groups for a terminal; otherwise one line each in fixed columns, for scripts.
const char *render_check(struct arena *arena, const finding_rows *rows,
			 const struct check_plan *plan, struct reader reader);
// Returns the same as JSON.
const char *render_check_json(struct arena *arena, const finding_rows *rows,
			      const struct check_plan *plan);
