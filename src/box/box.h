// SPDX-License-Identifier: MIT
// One box from start to end: state, bwrap, network, supervision, report.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/cgroup.h"
#include "plan/plan.h"
#include "terminal/terminal.h"

#include <stdbool.h>
#include <sys/types.h>

struct network;

// A started box, as the supervisor holds it.
struct box {
	pid_t bwrap;
	int control;  // to init
	int terminal; // -1: none
	bool foreground;
	struct terminal screen; // how it was, and what stands before it
	int info;               // bwrap says who process 1 is; -1: not asked
	struct cgroup cgroup;
};

// Prepare, start, supervise.
bool box_run(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error);
// Sets up the plan's network for a box that does nothing.
bool box_try_network(const struct plan *plan, struct arena *arena, struct error *error);
