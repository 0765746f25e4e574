// SPDX-License-Identifier: MIT
// Answers Claude's first-run questions in the instance's .claude.json.
#pragma once

#include "base/arena.h"

// The instance's .claude.json with the first-run questions answered, or NULL when nothing is to change.
const char *settings_answer(struct arena *arena, const char *existing, const char *preferences,
			    const char *project, const char *api_key);
