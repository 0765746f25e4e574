// SPDX-License-Identifier: MIT
// Reads the machine and fills struct host. It looks, it changes nothing, and it trusts nothing in the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stddef.h>

bool probe_all(struct facts *facts, struct arena *arena, char *const *environment,
	       struct error *error);
// Only who we are and where the state is.
bool probe_owner(struct facts *facts, struct arena *arena, char *const *environment,
		 struct error *error);
// What ~/.claudebox itself is.
void probe_state_root(struct facts *facts, struct arena *arena);

// The bytes that follow a text in a program; NULL when it does not hold the text.
const char *probe_text_after(struct arena *arena, const char *program, const char *wanted,
			     size_t count);
