// SPDX-License-Identifier: MIT
// The audit in short: what differs from box to box, for the screen of a question.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

#include <stdbool.h>

// The answer to the question that shows what is folded.
#define AUDIT_DETAILS "d"

// Returns lines that fit the reader's screen and leave room for the question. What does not fit is
// counted, except for what is shown in red. `question`: there is a terminal to
// answer it.
const char *render_audit_short(const struct plan *plan, struct arena *arena, struct reader reader,
			       bool question);
