// SPDX-License-Identifier: MIT
// The table of variables that name the directory of a toolchain.
#pragma once

#include <stddef.h>

struct directory_variable_row {
	const char *name;
	const char *what; // what the directory has
};
extern const struct directory_variable_row directory_variables[];
extern const size_t directory_variable_count;
