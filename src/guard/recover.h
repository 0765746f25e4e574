// SPDX-License-Identifier: MIT
// The search after a launch that was killed together with its guard.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "guard/git/copies.h"
#include "plan/facts.h"

// Moves places to quarantine that a killed box has created. Needs facts->guard. Stores sentences
// for the user.
void guard_recover(const struct facts *facts, const struct config *config,
		   const struct copies_left *left, struct arena *arena, strings *ret_notes);
