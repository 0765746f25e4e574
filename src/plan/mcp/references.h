// SPDX-License-Identifier: MIT
// References to variables in the configuration of an MCP server, as Claude expands them: ${NAME}
// and ${NAME:-default}. Claude leaves a reference to a variable that is not set as it is.
#pragma once

#include "base/arena.h"

// Returns the value of a variable in an environment of any kind, NULL: it is not set.
typedef const char *(*reference_lookup)(const void *environment, const char *name);

// Returns the text with its references expanded. Adds the names without a value and without a
// default to `missing`, which may be NULL.
const char *references_expand(struct arena *arena, const char *text, reference_lookup lookup,
			      const void *environment, strings *missing);
// Returns a text with the defaults of its references in place: a secret can be the default of one,
// or of a reference in it.
const char *references_defaults(struct arena *arena, const char *text);
