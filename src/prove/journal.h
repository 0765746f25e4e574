// SPDX-License-Identifier: MIT
// The journal of --prove: a file in ~/.claudebox that lists everything it creates on this machine.
#pragma once

#include "base/error.h"
#include "plan/plan.h"
#include "prove/prove.h"

#include <stdbool.h>

// Removes what killed runs of --prove left behind, and writes the journal of this run. Must run
// before anything in it is created.
bool prove_open_journal(struct prove *prove, const struct plan *plan, struct error *error);

// Removes everything that the journal of this run lists, and then the journal.
void prove_close_journal(struct prove *prove, const struct plan *plan);
