// SPDX-License-Identifier: MIT
// What the report says about repositories, and no undo takes back: repositories in the project,
// stashes, and hooks that are not protected.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "plan/report/report.h"

#include <stdbool.h>

// Keeps the state at the start in the directory of a session. `nested`: the directories of
// repositories in the project, relative to it.
bool state_write(int session, const struct plan *plan, const strings *nested, struct error *error);
// Compares the present state with that of the start.
struct repository_changes state_compare(int session, const struct plan *plan, const strings *nested,
					struct arena *arena);
// Returns whether something was changed.
bool state_is_changed(const struct repository_changes *changes);
