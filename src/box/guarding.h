// SPDX-License-Identifier: MIT
// The guard's events while a box runs, and what the user is told about them.
#pragma once

#include "base/arena.h"
#include "box/box.h"
#include "guard/guard.h"
#include "plan/plan.h"

#include <stdbool.h>

// What the supervisor does after events.
enum guarding_result {
	GUARDING_GO_ON,
	GUARDING_STOP, // stop the box, then call guarding_decide()
	GUARDING_END,  // end the box
};

// Notes the content of the places that git tracks, before the box starts.
void guarding_start(struct guarding *guarding, const struct plan *plan);
// Waits until the guard watches the project. Returns false with an error if a place cannot be
// protected, or if not all directories can be watched and the user does not accept it.
bool guarding_wait_ready(struct guarding *guarding, struct box *box, const struct plan *plan,
			 struct error *error);
// Handles the events of the guard.
enum guarding_result guarding_handle(struct guarding *guarding, struct box *box,
				     const struct plan *plan);
// Lets the guard search while all processes of the box are stopped, and asks the user. Returns
// whether the box goes on.
bool guarding_decide(struct guarding *guarding, struct box *box, const struct plan *plan);
// Lets the guard search once more, writes harmless changes of git's configuration to the host, and
// tells the user what was moved.
void guarding_finish(struct guarding *guarding, struct box *box, const struct plan *plan);
