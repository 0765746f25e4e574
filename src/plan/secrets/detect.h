// SPDX-License-Identifier: MIT
// Detects secrets in variables, settings, commands and other text. Every part of claudebox uses
// these functions. The tables: names.c (names), tokens.c (tokens of providers), files.c (files).
//
// A kind is a noun with its article, for messages: "a GitHub token". No function changes or copies
// the text, and none needs memory.
#pragma once

#include "plan/secrets/files.h"
#include "plan/secrets/names.h"

#include <stdbool.h>
#include <stddef.h>

// How a variable was recognised as a secret.
enum secret_sign {
	SECRET_NONE,
	SECRET_BY_NAME,  // its name looks like that of a secret
	SECRET_BY_SHAPE, // its value looks like a token
};
// Checks an environment variable by its name and then by its value; stores the kind of secret in
// the value, or NULL.
enum secret_sign secret_variable(const char *name, const char *value, const char **ret_kind);

// Returns the kind of the first token, private key, login header or URL with a password in a value,
// NULL: none. It ignores names.
const char *secret_value(const char *value);
// Returns the kind of the first secret in a text, NULL: none. Besides what secret_value() finds,
// the text may assign a secret: NAME=value, "name": "value", --name value, or as in a netrc file.
// Stores the place of the value alone. To find the next one, call it with the text behind it.
const char *secret_find(const char *text, size_t *ret_start, size_t *ret_length);
// Finds a secret in source code or a document. Besides what secret_value() finds, assignments of
// values that look random count. Stores whether it is certain; otherwise it may be an example.
const char *secret_find_in_prose(const char *text, size_t *ret_start, size_t *ret_length,
				 bool *ret_certain);
// Returns the kind of the first certain secret in source code or a document, NULL: none. Stores the
// first doubtful value before it, or NULL.
const char *secret_find_certain(const char *text, const char **ret_doubt);
// Returns whether a text has a long part that looks random.
bool secret_random_part(const char *text);
// Returns the kind of the first token in a binary file, NULL: none. Only token shapes count.
const char *secret_token(const char *text);
// Returns the kind of secret in a value of data that has this name: as secret_text(), but a text in
// the value counts as prose.
const char *secret_data(const char *name, const char *value);
// Returns the kind of secret in a value that has this name (NULL: no name), NULL: none. A value
// beside the name of a secret counts unless it is obviously something else, and beside a name such
// as KEY or SESSION if it looks random.
const char *secret_text(const char *name, const char *value);
