// SPDX-License-Identifier: MIT
// Recognises containers and other places where the kernel refuses a sandbox, and what allows it.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// The first step of a sandbox that the kernel refuses.
enum refused_step {
	STEP_NONE,      // none
	STEP_NAMESPACE, // a user namespace
	STEP_MAP,       // user ids in it
	STEP_MOUNT,     // other namespaces, and mounts in them
	STEP_PROC,      // a /proc of its own
	STEP_COUNT,
};

struct container_row {
	const char *name;     // for people: "this Docker container"
	const char *file;     // recognised by this file, NULL: by the variable alone
	const char *text;     // in the file; NULL: any
	const char *variable; // of the environment; NULL: by the file alone
	bool engine; // its options decide about the steps; false: no box starts there in any case
	const char *fix;
};

// Returns the row of the place that this process runs in, NULL: none.
const struct container_row *container_find(void);
// Tries the steps of a sandbox in a child process. Returns the first that fails.
enum refused_step container_try_steps(void);
// Describes the refused step, and what refuses it.
const char *container_describe(struct arena *arena, enum refused_step step,
			       const struct container_row *row);
