// SPDX-License-Identifier: MIT
// What a plan is shown as, one text for each file name that a golden case may have.
#pragma once

#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

struct golden_output {
	const char *file;
	const char *(*render)(struct world *world);
	bool usual; // a new case gets this file
};
extern const struct golden_output golden_outputs[];
extern const size_t golden_output_count;
