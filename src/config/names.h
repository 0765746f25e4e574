// SPDX-License-Identifier: MIT
// Names that people write: which ones are right, which ones nobody may use, and which one was meant.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { LONGEST_PACKAGE_NAME = 100, LONGEST_PROFILE_NAME = 64, LONGEST_VARIABLE_NAME = 256 };

// A variable, or with a trailing '*' every one that starts so.
struct variable_row {
	const char *name;
	const char *why;
};

// Names that decide how the box itself works: nobody may set them.
extern const struct variable_row reserved_variables[];
extern const size_t reserved_variable_count;

// The row that a variable matches, or NULL.
const struct variable_row *variable_row_find(const struct variable_row *rows, size_t count,
					     const char *name);

// [A-Za-z0-9][A-Za-z0-9._-]*, so it is a file's name and never a path.
bool profile_name_valid(const char *name);
// An attribute of nixpkgs: [A-Za-z0-9_+-], with dots between; never an option.
bool package_name_valid(const char *name);

// What a person may write for a flake: nothing that nix could take for an option or an attribute, and nothing relative,
// for that would be the project's choice.
enum flake_reference { FLAKE_FINE, FLAKE_ODD, FLAKE_RELATIVE };
enum flake_reference flake_reference_judge(const char *text);

// The known name that was probably meant, or NULL.
const char *name_nearest(const char *name, const char *const *known, size_t count);
// "did you mean 'inet'? WHAT: full, inet, none", without the question when none is near.
const char *name_hint(struct arena *arena, const char *what, const char *name,
		      const char *const *known, size_t count);
