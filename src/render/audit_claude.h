// SPDX-License-Identifier: MIT
// The part of the audit on the user's MCP servers.
#pragma once

#include "base/screen.h"
#include "plan/plan.h"

// Adds the section, if the box gets a server of the user.
void audit_add_servers(struct screen *screen, const struct plan *plan);
