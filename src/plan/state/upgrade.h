// SPDX-License-Identifier: MIT
// The upgrade of the flat state of an earlier claudebox.
#pragma once

#include "plan/plan.h"

#define FLAT_BACKUP "backup-flat" // the directory in ~/.claudebox that gets all of the flat state
// Longer files and names are not copied. A conversation is named after a UUID.
enum { CONVERSATION_LIMIT = 64 * 1024 * 1024, CONVERSATION_NAME_LIMIT = 64 };

// Returns the first directory that a conversation names; "" when it names none.
const char *upgrade_find_project(struct arena *arena, const char *text);

// Fills plan->state.upgrade.
void plan_build_upgrade(struct plan *plan, struct arena *arena, const struct facts *facts);
