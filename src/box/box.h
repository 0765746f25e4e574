// SPDX-License-Identifier: MIT
// Runs a box from start to end: state, bwrap, network, supervision, report.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/cgroup.h"
#include "box/tether.h"
#include "plan/plan.h"
#include "terminal/terminal.h"

#include <stdbool.h>
#include <sys/types.h>

// A running box.
struct box {
	pid_t bwrap;   // also its process group
	int bwrap_end; // pidfd of bwrap, readable when it has ended; -1: none
	struct tether tether;
	pid_t guard;    // 0: none
	int guard_fd;   // pipe to the guard
	int control_fd; // socket to init
	int info_fd;    // pipe from bwrap's --info-fd; -1: not used
	struct terminal terminal;
	struct cgroup cgroup;
};

#define BOX_NONE                                                                               \
	(struct box)                                                                           \
	{                                                                                      \
		.bwrap = -1, .bwrap_end = -1, .guard_fd = -1, .control_fd = -1, .info_fd = -1, \
		.terminal = TERMINAL_NONE, .cgroup = CGROUP_NONE                               \
	}

// Runs the plan and waits for the agent. *ret_status is its exit status. Returns false with an
// error if the agent could not be started.
bool box_run(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error);
// Sets up the plan's network for a box that runs no agent. Returns false with an error if that
// fails.
bool box_try_network(const struct plan *plan, struct arena *arena, struct error *error);

// Kills bwrap, and its child while that belongs to bwrap's process group. The caller has not reaped
// bwrap.
void box_kill(const struct box *box);
// Waits for bwrap, kills what is left of its process group, and reaps it. Returns its status as
// wait(2) reports it.
int box_reap(struct box *box);
