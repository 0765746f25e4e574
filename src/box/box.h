// SPDX-License-Identifier: MIT
// Runs a box from start to end: state, bwrap, network, supervision, report.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/cgroup.h"
#include "plan/plan.h"
#include "terminal/terminal.h"

#include <stdbool.h>
#include <sys/types.h>

// A running box.
struct box {
	pid_t bwrap;
	int control_fd; // socket to init
	int info_fd;    // pipe from bwrap's --info-fd; -1: not used
	struct terminal terminal;
	struct cgroup cgroup;
};

// Runs the plan and waits for the agent. *ret_status is its exit status. Returns false with an
// error if the agent could not be started.
bool box_run(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error);
// Sets up the plan's network for a box that runs no agent. Returns false with an error if that
// fails.
bool box_try_network(const struct plan *plan, struct arena *arena, struct error *error);
