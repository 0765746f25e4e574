// SPDX-License-Identifier: MIT
// Finds the first secret in a text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum find_flags {
	FIND_SHAPES = 1,      // tokens, private keys, headers, URLs with a password
	FIND_ASSIGNMENTS = 2, // values beside names of secrets
	FIND_PROSE = 4,       // the same in source code and documents: only those that look random
	FIND_TOKENS = 8,      // token shapes alone
};

struct found {
	const char *kind;
	size_t place; // where the search found it: the name of an assignment
	size_t start; // of the value alone
	size_t length;
	bool certain; // false: a value beside a name of a secret, which may be an example
};

// Returns whether the text has a secret from `from` on, and stores the first one.
bool find_secret(const char *text, size_t from, unsigned int flags, struct found *ret);
