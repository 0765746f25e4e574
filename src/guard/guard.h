// SPDX-License-Identifier: MIT
// The guard: a process outside of the box that watches the places of the project which the host
// executes or trusts.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// What the guard reports, one packet each.
enum guard_event_kind {
	GUARD_READY,     // the top directories are watched
	GUARD_MOVED,     // an item is in quarantine
	GUARD_CHANGED,   // a place that git tracks was changed; id: what the host does with it
	GUARD_LOOP,      // a place was created again five times
	GUARD_EXHAUSTED, // the kernel's limit of watches is reached
	GUARD_FAILED,    // a place cannot be protected again
	GUARD_SWEPT,     // the search after GUARD_SWEEP is done
	GUARD_ENDED,     // the last search is done
};

enum { GUARD_TEXT_SIZE = 1024, GUARD_ID_SIZE = 64 };

struct guard_event {
	int32_t kind;
	char text[GUARD_TEXT_SIZE]; // the path, or a reason
	char id[GUARD_ID_SIZE];     // of an item in quarantine
};

// What the supervisor sends.
enum guard_order_kind {
	GUARD_SET_INIT, // value: the pid of the box's process 1
	GUARD_SWEEP,    // the box is stopped: search everything once
	GUARD_END,      // the box has ended: search once more, then exit
};

struct guard_order {
	int32_t kind;
	int32_t value;
};

// The guard as its supervisor sees it.
struct guard {
	pid_t pid;             // 0: none
	int channel;           // socket to it, -1: none
	int box_end;           // of process 1 of the box: readable when it has ended, -1: none
	struct timespec start; // what was changed after it is new
};

#define GUARD_NONE                           \
	(struct guard)                       \
	{                                    \
		.channel = -1, .box_end = -1 \
	}

// Starts the guard if the plan has protected places. What was changed after guard->start is new;
// without a time, after this call. Returns false with an error on failure.
bool guard_start(struct guard *guard, const struct plan *plan, struct error *error);
// Waits until the top directories are watched. Calls `handle` for each other event. Returns false
// with an error if the guard has ended.
bool guard_wait_ready(struct guard *guard,
		      void (*handle)(void *context, const struct guard_event *), void *context,
		      struct error *error);
// Tells the guard that the places of the box are at their paths. `init` is its process 1.
void guard_set_init(struct guard *guard, pid_t init);
void guard_send(const struct guard *guard, enum guard_order_kind kind, int value);
// Receives an event. Returns false if there is none; the guard has ended if *ret_ended.
bool guard_receive(const struct guard *guard, struct guard_event *ret_event, bool *ret_ended);
// Waits until all processes of the box have ended, lets the guard search once more, and waits for
// its end. If it was killed, another one searches. Calls `handle` for each event.
void guard_finish(struct guard *guard, const struct plan *plan,
		  void (*handle)(void *context, const struct guard_event *), void *context);
