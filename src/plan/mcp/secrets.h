// SPDX-License-Identifier: MIT
// Secrets in the configuration of an MCP server, beyond those that the detector finds in any text:
// services choose the names of their variables, options and headers freely.
#pragma once

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

// Returns whether a value beside the name of a secret is more than a word such as "basic".
bool server_value_is_secret(const char *name, const char *value);
// Returns whether a reference to the variable of a secret has a default: ${API_KEY:-value}.
bool server_default_is_secret(struct arena *arena, const char *text);
// Returns whether an argument is a secret: by the option before it, or as a header.
bool server_argument_is_secret(const char *before, const char *argument);
