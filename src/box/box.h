// SPDX-License-Identifier: MIT
// Runs a box from start to end: state, bwrap, network, supervision, report.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/cgroup.h"
#include "box/discarded.h"
#include "box/tether.h"
#include "plan/plan.h"
#include "guard/guard.h"
#include "snapshot/snapshot.h"
#include "terminal/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// A place that git tracks, at the start.
struct tracked_before {
	const char *path;
	const char *digest; // of its content
};

// What the guard has reported.
struct guarding {
	struct arena *arena;
	int64_t started_ms; // since 1970
	VEC(struct tracked_before) before;
	strings moved;       // paths that were moved to quarantine
	strings executed;    // changed places that git tracks and the host executes
	strings trusted;     // and other ones
	strings settings;    // of git that were applied outside at the end
	const char *looping; // a place that the box creates again and again, NULL: none
	const char *problem; // why a place is not protected, NULL: all are
	bool exhausted;      // the kernel's limit of watches is reached
	bool ended;          // the box was ended for one of these reasons
};

// A running box.
struct box {
	pid_t bwrap;   // also its process group
	int bwrap_end; // pidfd of bwrap, readable when it has ended; -1: none
	struct tether tether;
	struct guard guard;
	struct guarding guarding;
	struct snapshot snapshot;
	struct discarded_places in_memory;
	pid_t killer;   // 0: none
	int killer_fd;  // pipe to the killer
	int control_fd; // socket to init
	int info_fd;    // pipe from bwrap's --info-fd; -1: not used
	struct terminal terminal;
	struct cgroup cgroup;
};

#define BOX_NONE                                                                                \
	(struct box)                                                                            \
	{                                                                                       \
		.bwrap = -1, .bwrap_end = -1, .killer_fd = -1, .control_fd = -1, .info_fd = -1, \
		.guard = GUARD_NONE, .snapshot = SNAPSHOT_NONE, .terminal = TERMINAL_NONE,      \
		.cgroup = CGROUP_NONE, .in_memory = DISCARDED_PLACES_NONE                       \
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
