// SPDX-License-Identifier: MIT
// Golden cases: each shows the lines of a plan that prove one requirement, to be compared with a file.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

struct golden_case {
	const char *id; // of SPEC.md; golden/<id>.txt has what is wanted
	void (*show)(struct text *out);
};

extern const struct golden_case sandbox_cases[];
extern const size_t sandbox_case_count;
extern const struct golden_case network_cases[];
extern const size_t network_case_count;
extern const struct golden_case screen_cases[];
extern const size_t screen_case_count;
extern const struct golden_case claude_cases[];
extern const size_t claude_case_count;

// Builds the plan; an error is shown instead of it.
bool show_plan(struct text *out, struct world *world);
void show_title(struct text *out, const char *title);
// bwrap options with this flag.
void show_flag(struct text *out, struct world *world, const char *flag);
// bwrap options that make something at or below this path of the box.
void show_below(struct text *out, struct world *world, const char *path);
// Mounts with this reason.
void show_why(struct text *out, struct world *world, const char *why);
void show_variable(struct text *out, const struct world *world, const char *name);
void show_data(struct text *out, const struct world *world, const char *path);
void show_command(struct text *out, const struct world *world);
void show_warnings(struct text *out, const struct world *world);
// The state that launch prepares: links and files of the instance.
void show_state(struct text *out, const struct world *world);
// Lines of a text that hold `needle`.
void show_lines(struct text *out, struct arena *arena, const char *text, const char *needle);
