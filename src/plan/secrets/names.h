// SPDX-License-Identifier: MIT
// Names of variables, keys and options that hold secrets.
#pragma once

#include <stddef.h>

// How much a name says about its value.
enum name_strength {
	NAME_HARMLESS,
	NAME_HINT,    // the value is a secret if it looks random: KEY, SESSION
	NAME_TOKEN,   // the value is a secret unless it is a word: TOKEN
	NAME_PIN,     // the value is a secret if it is a number of at least 4 digits
	NAME_HEADERS, // the value is a list of HTTP headers
	NAME_SECRET,  // any value that is not obviously something else is a secret: PASSWORD
};

// Returns the kind of secret that such a name holds ("a password"), NULL: none.
const char *secret_name(const char *name);
// Judges the first `length` bytes of a name; stores the kind of secret.
enum name_strength name_judge(const char *name, size_t length, const char **ret_kind);
