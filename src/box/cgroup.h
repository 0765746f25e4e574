// SPDX-License-Identifier: MIT
// The cgroup of a box: made before it, removed after it.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

struct cgroup {
	int outer; // has the limits; -1: there is no cgroup
	int inner; // has the processes
	int parent;
	const char *name;
};

#define CGROUP_NOT_MADE                                \
	(struct cgroup)                                \
	{                                              \
		.outer = -1, .inner = -1, .parent = -1 \
	}

// Makes it when the plan says so, with its limits, and removes what boxes that were killed left there. Without it nothing
// starts, unless nobody asked for limits.
bool cgroup_make(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		 struct error *error);

// As fork(), but the child is born in the cgroup; -1 with errno. The child may do little before it executes something.
pid_t cgroup_fork(const struct cgroup *cgroup);

// Whether a process is where limits that were asked for are in force; without that nothing starts.
bool cgroup_confirm(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
		    struct arena *arena, struct error *error);

// Goes without it, and says so, when there is one that nobody asked for.
bool cgroup_forgo(struct cgroup *cgroup, const struct plan *plan, int why);

// Ends what is still in it and removes it. A person is told when a limit was met.
void cgroup_end(struct cgroup *cgroup);
