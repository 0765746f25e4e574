// SPDX-License-Identifier: MIT
// Decides whether programs and files that Claude's configuration names are in the box: those of
// hooks, of the status line and of MCP servers. The mounts and PATH of the plan must be complete.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Something that the box lacks, for a row of plan->left_out.
struct command_lack {
	const char *why;    // "'~/bin/x' is not in the box"
	const char *option; // that brings it, NULL: none does
};
typedef VEC(struct command_lack) command_lacks;

// Returns whether the box has something at this path of the host.
bool claude_visible_in_box(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const char *path);
// Adds what the box lacks of a shell command: the program and every absolute path that the host
// has, also those of a script in it (sh -c 'SCRIPT'). The program of a script counts only if the
// host has it.
void command_find_lacks(const struct plan *plan, struct arena *arena, const struct facts *facts,
			const char *command, bool script, command_lacks *lacks);
// Returns one row for all: their reasons, and the options if these bring everything.
struct command_lack command_join_lacks(struct arena *arena, const command_lacks *lacks);
// Returns whether the box has a program: a name to find on PATH, or a path.
bool command_has_program(const struct plan *plan, struct arena *arena, const struct facts *facts,
			 const char *program, struct command_lack *ret_lack);
// Returns whether the host has a program: a name to find on PATH, or a path.
bool command_on_host(const struct facts *facts, const char *program);
// Returns whether the box has the file or directory of an argument, or the host has none of that
// path either, so that it is something else. "--option=/path" counts.
bool command_has_file(const struct plan *plan, struct arena *arena, const struct facts *facts,
		      const char *argument, struct command_lack *ret_lack);

// Adds what the probe has to look for: names of programs, and absolute paths.
void command_add_words(struct arena *arena, const char *home, const char *command, strings *words);
// Returns the path in an argument, NULL: none.
const char *command_path(const char *argument);
// Returns whether the argument after this option is a script of a shell: bash -c.
bool command_is_script(const char *program, const char *option);
