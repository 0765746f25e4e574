// SPDX-License-Identifier: MIT
// The mounts in the short form of the audit: which are named, and how many are only counted.
#pragma once

#include "base/screen.h"
#include "plan/plan.h"
#include "render/audit/section.h"

// Adds what the agent can change. A directory of claudebox is named by its purpose.
void audit_name_writable(struct screen *screen, const struct plan *plan,
			 struct audit_section *section);
// Adds the other mounts that were requested, and those with files of the user.
void audit_name_mounts(struct screen *screen, const struct plan *plan,
		       struct audit_section *section);
// Adds how much claudebox itself makes, which is the same in most boxes, and what the marks mean.
void audit_count_rest(struct screen *screen, const struct plan *plan,
		      struct audit_section *section);
