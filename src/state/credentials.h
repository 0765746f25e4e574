// SPDX-License-Identifier: MIT
// Keeps the sign-in that the boxes share and the host's own .credentials.json alike (AUTH-01…03).
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

struct credentials {
	const struct plan *plan;
	int watch; // inotify; -1: not yet
	bool watched;
};

// Brings both sides up to date before the start.
bool credentials_prepare(const struct plan *plan, struct arena *arena, struct error *error);

// While the box runs: how long (ms, -1: for ever) to wait before the watch begins; a descriptor to wait on, and what to
// do when it is readable.
int credentials_timeout(const struct credentials *credentials);
void credentials_watch(struct credentials *credentials);
int credentials_descriptor(const struct credentials *credentials);
void credentials_changed(struct credentials *credentials);
void credentials_end(struct credentials *credentials);
