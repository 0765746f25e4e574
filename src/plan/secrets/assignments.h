// SPDX-License-Identifier: MIT
// Assignments of secrets in commands, scripts, JSON and configuration files.
#pragma once

#include "plan/secrets/names.h"

#include <stdbool.h>
#include <stddef.h>

struct assignment {
	const char *kind; // of secret
	size_t start;     // of the value
	size_t length;
	enum name_strength strength;
};

// Returns whether the text at `at` is the name of a secret that is followed by its value:
// NAME=value, name: value, "name": "value", --name value, <name>value</name>, `machine … password
// value`; or a program with a password among its arguments. Stores what it found.
bool assignment_match(const char *text, size_t at, struct assignment *ret);
