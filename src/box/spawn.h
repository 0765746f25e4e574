// SPDX-License-Identifier: MIT
// Starts the one process that becomes the box.
#pragma once

#include "base/arena.h"
#include "box/cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

// A descriptor that the process gets, and its number there.
struct spawn_move {
	int from;
	int to; // may be the same
};

struct spawn {
	const char *program;
	const char **arguments;
	const char **environment;
	VEC(struct spawn_move) moves;
};

// In the cgroup, if it was made. False with errno; a `ret_pid` of -1 then says that not even a process could be made.
bool spawn_process(const struct spawn *spawn, const struct cgroup *cgroup, pid_t *ret_pid);
