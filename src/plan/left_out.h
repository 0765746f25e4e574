// SPDX-License-Identifier: MIT
// What the host has and the box lacks, for people.
#pragma once

#include "base/arena.h"

struct plan;

// The order of the rows: first what the user configured to work for Claude.
enum left_out_kind {
	LEFT_OUT_SERVER, // an MCP server
	LEFT_OUT_HOOK,
	LEFT_OUT_STATUS_LINE,
	LEFT_OUT_OTHER,
	LEFT_OUT_MINOR, // variables and settings of git, which most boxes lack
	LEFT_OUT_KIND_COUNT,
};

// Something that the host has and the box lacks.
struct plan_left_out {
	const char *what;
	const char *why;
	const char *option; // that brings it, NULL: none does
	strings names;      // of its parts, if `what` is their number
	enum left_out_kind kind;
};
typedef VEC(struct plan_left_out) left_out_rows;

// Add a row, once: of LEFT_OUT_OTHER, and of any kind. `option`: what brings it; NULL: nothing
// does.
void plan_leave_out(struct plan *plan, struct arena *arena, const char *what, const char *why,
		    const char *option);
void plan_leave_out_kind(struct plan *plan, struct arena *arena, enum left_out_kind kind,
			 const char *what, const char *why, const char *option);
// Sorts the rows by their kind.
void plan_sort_left_out(struct plan *plan, struct arena *arena);
