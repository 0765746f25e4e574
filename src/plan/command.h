// SPDX-License-Identifier: MIT
// The command of the box: claude, a shell, or the command of --exec.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the command and the files that claude requires. Returns false with an error if there is no
// usable claude.
bool plan_build_command(struct plan *plan, struct arena *arena, const struct facts *facts,
			struct error *error);
// Returns the path of an agent file in the box. The box has a ~/.claude of its own, so files of the
// host's ~/.claude are mounted below BOX_AGENT.
const char *plan_agent_place(const struct plan *plan, struct arena *arena, const char *real);
// Returns the directory of PATH in which the box has claude, NULL: there is no claude.
const char *plan_command_directory(struct arena *arena, const struct facts *facts);

// Returns whether a word of a command contains something like a secret. `before`: the word before
// it, which can be an option that takes a secret; NULL: none.
bool command_word_is_secret(const char *before, const char *word);
// Returns where such a word is, for people: the option that it belongs to, or its number.
const char *command_describe_word(struct arena *arena, const char *const *words, size_t number);
// Warns about secrets among the arguments of the user.
void plan_warn_command(struct plan *plan, struct arena *arena);
