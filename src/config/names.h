// SPDX-License-Identifier: MIT
// Names that users write: validity tests, reserved names, and suggestions for misspelled ones.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { LONGEST_PACKAGE_NAME = 100, LONGEST_PROFILE_NAME = 64, LONGEST_VARIABLE_NAME = 256 };

// A variable; with a trailing '*', every variable whose name starts so.
struct variable_row {
	const char *name;
	const char *why;
};

// Variables that decide how the box works. Neither options nor profiles can set them.
extern const struct variable_row reserved_variables[];
extern const size_t reserved_variable_count;

// Returns the row that a variable matches, or NULL.
const struct variable_row *variable_row_find(const struct variable_row *rows, size_t count,
					     const char *name);

// Returns whether the name is [A-Za-z0-9][A-Za-z0-9._-]*: the name of a file, never a path.
bool profile_name_valid(const char *name);
// Returns whether the name is an attribute of nixpkgs: parts of [A-Za-z0-9_+-] with dots between
// them, never an option of nix.
bool package_name_valid(const char *name);

// Checks a flake reference that a user wrote. An invalid one may be an option or an attribute to
// nix. A relative one would depend on the project.
enum flake_reference { FLAKE_VALID, FLAKE_INVALID, FLAKE_RELATIVE };
enum flake_reference flake_reference_check(const char *text);

// Returns the known name that is most similar to a misspelled one; NULL: none is similar.
const char *name_nearest(const char *name, const char *const *known, size_t count);
// Returns "did you mean 'inet'? WHAT: full, inet, none", without the question if none is similar.
const char *name_hint(struct arena *arena, const char *what, const char *name,
		      const char *const *known, size_t count);
