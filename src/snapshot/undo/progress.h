// SPDX-License-Identifier: MIT
// Says on the terminal how far an undo is.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Starts as zeros: nothing is said.
struct progress {
	size_t files;
	size_t steps; // of all files
	size_t done;
	int64_t next_ms; // of CLOCK_MONOTONIC, when a line is due; 0: no terminal
};

// Begins to count. The first line is due after a second.
struct progress progress_begin(size_t files, size_t steps);
// Counts a step, and prints a line if one is due.
void progress_count(struct progress *progress);
