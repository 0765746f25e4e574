// SPDX-License-Identifier: MIT
// Recognises the toolchain managers that the user has.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/toolchains/managers.h"

#include <stdbool.h>

// Adds the managers of the set `wanted` that a variable or a path of `signs` leads to. A sign is a
// path without symbolic links, or as the user has written it.
void toolchain_recognise(struct facts *facts, struct arena *arena, const strings *signs,
			 unsigned int wanted);
// Returns the row of the table with a root that contains a path, be the manager recognised or not;
// NULL: there is none. `resolve`: the path has no symbolic links, so the roots are resolved too.
const struct manager_row *toolchain_row_of(struct facts *facts, struct arena *arena,
					   const char *path, bool resolve);
// Returns the index of the found directory tree that contains the path; the number of them: none.
size_t toolchain_of(const struct facts *facts, const char *path);
