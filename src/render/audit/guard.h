// SPDX-License-Identifier: MIT
// The part of the audit on the protected places of the project.
#pragma once

#include "base/screen.h"
#include "plan/plan.h"
#include "render/audit/section.h"

// Adds the section of the full audit. A box that cannot change the project has none.
void audit_add_guard(struct screen *screen, const struct plan *plan);
// Adds the line of the short audit.
void audit_name_guard(struct screen *screen, const struct plan *plan,
		      struct audit_section *section);
