// SPDX-License-Identifier: MIT
// Creates the descriptors that bwrap and init get: options, mount sources, generated files,
// environment.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>

// Numbers of descriptors in bwrap, besides those of init (protocol.h).
enum { INPUT_INIT_FD = 5, INPUT_OPTIONS_FD = 6 };

struct inputs {
	struct arena *arena;
	struct text arguments; // options of bwrap, NUL-separated
	VEC(int) inherited;    // descriptors that the options name; they keep their numbers
	VEC(int) low;          // descriptors that occupy the fixed numbers
	int init;              // memfd with the init program
	int environment;       // memfd with the agent's environment
	int options;           // pipe or memfd with `arguments`
	int hold;              // write end of the pipe: bwrap waits until it is closed; -1: none
};

// Creates all inputs. In tiers with network helpers, *ret_info_fd is the read end of the pipe for
// bwrap's --info-fd. Returns false with an error on failure; the caller calls inputs_close() in
// both cases.
bool inputs_create(struct inputs *inputs, const struct plan *plan, struct arena *arena,
		   int *ret_info_fd, struct error *error);
// Closes all descriptors of the inputs.
void inputs_close(struct inputs *inputs);

// Moves a descriptor to a number above the fixed ones, so that it is not overwritten. Closes `fd`.
// Returns -1 with errno on failure, and if `fd` is -1.
int inputs_move_up(int fd);
// Creates an executable memfd with the init program of the box, close-on-exec. Returns -1 with
// errno on failure.
int init_memfd(void);
// Sets the error for a path that is not the file that was probed. Returns false.
bool file_changed_error(const char *path, struct error *error);
