// SPDX-License-Identifier: MIT
// Stops all processes of the box, keeps them stopped, and continues them.
#pragma once

#include <stdbool.h>

enum {
	STOP_CHECK_MS = 200, // interval of stop_check()
	STOP_KEPT_MAX = 1024,
};

struct stop {
	bool active;    // the processes are stopped, or should be
	int violations; // checks that found a running process
	int kept_count;
	int kept[STOP_KEPT_MAX]; // processes that were stopped before: they are not continued
};

// Stops every process except the caller, process 1. `agent` is the agent's process group: it is
// always continued. Returns false if a process still runs after the timeout.
bool stop_all(struct stop *stop, long agent);
// Checks that all processes are still stopped. Stops them again; kills those that go on running.
void stop_check(struct stop *stop);
// Continues the processes, except those that were stopped before.
void stop_end(struct stop *stop);
