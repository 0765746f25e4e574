// SPDX-License-Identifier: MIT
// Starts programs with a chosen set of descriptors.
#pragma once

#include "base/arena.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

// A descriptor that the program inherits, and its number there.
struct spawn_descriptor {
	int from;
	int to; // may equal `from`
};

// A program to start. All descriptors of claudebox are close-on-exec, so the program gets those
// listed here and 0 to 2. They are duplicated in order.
struct spawn {
	const char *program; // absolute path
	const char *const *arguments;
	const char *const *environment;
	VEC(struct spawn_descriptor) descriptors;
	bool own_group;          // the program leads a new process group
	const sigset_t *blocked; // the program's signal mask; NULL: that of claudebox
};

// Starts the program. Returns false with errno if that fails; *ret_pid is then -1.
bool spawn_process(const struct spawn *spawn, pid_t *ret_pid);

// Executes the program in the calling process, a child that another function created. Returns only
// on failure, with errno. Async-signal-safe.
void spawn_execute(const struct spawn *spawn);
