// SPDX-License-Identifier: MIT
// What the host has and the box lacks, for people.
#include "plan/left_out.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/plan.h"

void plan_leave_out_kind(struct plan *plan, struct arena *arena, enum left_out_kind kind,
			 const char *what, const char *why, const char *option)
{
	vec_each(row, &plan->left_out) {
		if (str_equal(row->what, what) && str_equal(row->why, why) &&
		    str_equal(row->option, option))
			return;
	}
	vec_push(
		arena, &plan->left_out,
		(struct plan_left_out){ .kind = kind, .what = what, .why = why, .option = option });
}

void plan_leave_out(struct plan *plan, struct arena *arena, const char *what, const char *why,
		    const char *option)
{
	plan_leave_out_kind(plan, arena, LEFT_OUT_OTHER, what, why, option);
}

void plan_sort_left_out(struct plan *plan, struct arena *arena)
{
	left_out_rows sorted = { 0 };

	for (int kind = 0; kind < LEFT_OUT_KIND_COUNT; kind++)
		vec_each(row, &plan->left_out) {
			if ((int)row->kind == kind)
				vec_push(arena, &sorted, *row);
		}
	plan->left_out = sorted;
}
