// SPDX-License-Identifier: MIT
// Separates the settings of package managers that pass into the box from credentials and others.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"

// Replaces an address that cannot be separated from its token. The name never resolves, so a
// package of that registry is not fetched from another one.
#define ADDRESS_LEFT_OUT "https://left-out-by-claudebox.invalid/"

// Adds the settings that pass to `kept`; a setting replaces an earlier one with the same path. Adds
// the names of the others to the report, never a value. A credential that only refers to a variable
// passes if the user passes the variable to the box.
void registries_filter(struct plan_registry *report, struct arena *arena, const struct plan *plan,
		       enum registry_tool tool, const setting_list *list, setting_list *kept);
