// SPDX-License-Identifier: MIT
// The cgroup of a box: creates it with the plan's limits, starts processes in it, removes it.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "sys/spawn.h"

#include <stdbool.h>
#include <sys/types.h>

struct cgroup {
	int outer; // directory with the limits; -1: there is no cgroup
	int inner; // directory with the processes
	int parent;
	const char *name; // of `outer`, in `parent`
};

#define CGROUP_NONE                                    \
	(struct cgroup)                                \
	{                                              \
		.outer = -1, .inner = -1, .parent = -1 \
	}

// Creates the cgroup if the plan has one, sets its limits, and removes the cgroups of claudeboxes
// that were killed. Returns false with an error if requested limits cannot be set. If the default
// limit cannot be set, prints a message and returns true.
bool cgroup_create(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		   struct error *error);

// Starts a program in the cgroup; in that of claudebox if there is none. Returns false with errno
// on failure. *ret_pid is then -1 if no process could be created, and the pid of an ended and
// reaped process if the program could not be executed in the cgroup.
bool cgroup_spawn(const struct cgroup *cgroup, const struct spawn *spawn, pid_t *ret_pid);

// Checks that a process is in the cgroup with the requested limits and that their values are in
// effect. Returns true if no limits were requested, false with an error if the check fails.
bool cgroup_check_limits(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
			 struct arena *arena, struct error *error);

// Removes a cgroup that the user did not request, after a failure with `error_number` to start a
// process in it, and prints a message. Returns false if limits were requested or there is no
// cgroup.
bool cgroup_abandon(struct cgroup *cgroup, const struct plan *plan, int error_number);

// Kills the remaining processes and removes the cgroup. If stderr is a terminal, reports the limits
// that were reached.
void cgroup_remove(struct cgroup *cgroup);
