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

// A variable that moves a secret to another place.
struct moved_secret_row {
	const char *variable;
	const char *below;   // the secret in the directory that it names; NULL: it names the secret
	const char *instead; // the part of the paths of secret_table that it replaces, NULL: none
	const char *what;
	const char *attack;
};
extern const struct moved_secret_row moved_secret_table[];
extern const size_t moved_secret_count;
