// SPDX-License-Identifier: MIT
// Detects secrets by the name of a variable, the shape of a value, and the name of a file.
#pragma once

#include <stdbool.h>

// How a variable was recognised as a secret.
enum secret_sign {
	SECRET_NONE,
	SECRET_BY_NAME,  // its name looks like that of a secret
	SECRET_BY_SHAPE, // its value looks like a token
};
// Checks a variable by its name and then by its value; stores the kind of token, or NULL.
enum secret_sign secret_variable(const char *name, const char *value, const char **ret_kind);
// Return why the name or the value counts as a secret, or NULL if it does not.
const char *secret_name(const char *name);
const char *secret_value(const char *value);

// Returns whether a file of that name usually contains secrets.
bool secret_file_name(const char *name);
