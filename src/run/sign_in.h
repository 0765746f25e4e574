// SPDX-License-Identifier: MIT
// Keeps the sign-in that the boxes share and the host's own .credentials.json alike (AUTH-01…03).
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

struct sign_in {
	const struct plan *plan;
	int watch; // inotify; -1: not yet
	bool watched;
};

// Brings both sides up to date before the start.
bool sign_in_prepare(const struct plan *plan, struct arena *arena, struct error *error);

// While the box runs: how long (ms, -1: for ever) to wait before the watch begins; a descriptor to wait on, and what to
// do when it is readable.
int sign_in_patience(const struct sign_in *sign_in);
void sign_in_watch(struct sign_in *sign_in);
int sign_in_descriptor(const struct sign_in *sign_in);
void sign_in_changed(struct sign_in *sign_in);
void sign_in_end(struct sign_in *sign_in);
