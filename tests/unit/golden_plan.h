// SPDX-License-Identifier: MIT
// What a plan is shown as, one text for each file name that a golden case may have.
#pragma once

#include "base/screen.h"
#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

struct golden_output {
	const char *file;
	const char *(*render)(struct world *world); // NULL: the audit
	bool usual;                                 // a new case gets this file
	struct reader reader;                       // of the audit
	bool full;
};
extern const struct golden_output golden_outputs[];
extern const size_t golden_output_count;

const char *golden_render(const struct golden_output *output, struct world *world);
