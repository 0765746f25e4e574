// SPDX-License-Identifier: MIT
// The parts of the audit on the user's MCP servers and on settings of package managers.
#pragma once

#include "base/screen.h"
#include "plan/plan.h"

// Adds the section, if the box gets a server of the user.
void audit_add_servers(struct screen *screen, const struct plan *plan);
// Adds the names of settings of package managers that have no effect in the box, if there are any.
void audit_add_unused_settings(struct screen *screen, const struct plan *plan);
