// SPDX-License-Identifier: MIT
// Synchronises the credentials that the boxes share with the host's own .credentials.json.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

// The synchronisation while a box runs.
struct credentials {
	const struct plan *plan;
	int watch;        // inotify descriptor; -1: none
	bool watched;     // credentials_watch has been called
	int64_t since_ms; // start of the box
};

// Synchronises both sides before the start of a box.
bool credentials_prepare(const struct plan *plan, struct arena *arena, struct error *error);

// Returns how many milliseconds to wait before credentials_watch is called; -1: it has been called.
int credentials_timeout(const struct credentials *credentials);
// Starts to watch both sides, and synchronises them. Without inotify there is no watch.
void credentials_watch(struct credentials *credentials);
// Returns the descriptor that becomes readable when a side may have changed; -1: none.
int credentials_descriptor(const struct credentials *credentials);
// Reads the events of that descriptor and synchronises both sides if the credentials changed.
void credentials_changed(struct credentials *credentials);
// Synchronises both sides a last time and closes the watch.
void credentials_end(struct credentials *credentials);
