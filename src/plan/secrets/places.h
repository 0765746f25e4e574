// SPDX-License-Identifier: MIT
// Secret places of the host, which no box may see. A new place is one row in places.c: the plan
// never mounts it, a project that contains it is refused, and --prove attacks it.
#pragma once

#include <stddef.h>

struct secret_row {
	const char *path;   // "~/" stands for the home directory
	const char *what;   // the kind of secret, for messages
	const char *attack; // the PLACE_ATTACK of prove/attacks.def that tries to read it
};
extern const struct secret_row secret_table[];
extern const size_t secret_table_count;
