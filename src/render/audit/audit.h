// SPDX-License-Identifier: MIT
// The audit in full: everything that the box gets, shown to the user before the start.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

// Each function returns lines that fit the reader's screen.

// Returns the full list: every variable and mount.
const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader);
// Returns changes and warnings alone, for a start without a question; "": there are none.
const char *render_audit_changes(const struct plan *plan, struct arena *arena,
				 struct reader reader);
