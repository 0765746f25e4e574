// SPDX-License-Identifier: MIT
// Paths that Claude's files name: imports of instructions, directories in settings, MCP servers.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns the imports ("@path") of a text of instructions, as written.
strings claude_find_imports(struct arena *arena, const char *text);
// Returns the path of an import of a file, "" for a word that is not one.
const char *claude_import_path(struct arena *arena, const struct facts *facts, const char *file,
			       const char *written);
// Returns the values of permissions.additionalDirectories in settings, as written.
strings claude_additional_directories(struct arena *arena, const char *text);

// Add the paths outside of the project that a file of the project names: instructions, settings or
// MCP servers. `file` is relative to the project.
void claude_add_repository_imports(struct facts *facts, struct arena *arena, const char *file,
				   const char *text);
void claude_add_repository_settings(struct facts *facts, struct arena *arena, const char *file,
				    const char *text);

// Reports the named paths that the box lacks. The user's own are offered with the option that
// brings each; those of the repository are only listed.
void plan_leave_out_named(struct plan *plan, struct arena *arena, const struct facts *facts);
// Names the programs of the repository's settings and MCP servers that the box lacks. The PATH and
// the mounts of the plan must be complete.
void plan_leave_out_programs(struct plan *plan, struct arena *arena, const struct facts *facts);
// Drops the rows about the repository that name what a row about the user's configuration names.
void plan_drop_named_twice(struct plan *plan);
