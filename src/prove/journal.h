// SPDX-License-Identifier: MIT
// The list of what --prove makes on this machine, on disk while it is there.
#pragma once

#include "base/error.h"
#include "plan/plan.h"
#include "prove/prove.h"

#include <stdbool.h>

// prove_journal.c: what will be made is written down first, so that the next --prove can remove what a killed one left.
bool prove_open_journal(struct prove *prove, const struct plan *plan, struct error *error);
void prove_close_journal(struct prove *prove, const struct plan *plan);
