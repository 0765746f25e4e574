// SPDX-License-Identifier: MIT
// Job control: stops and continues the box together with claudebox.
#pragma once

#include "box/box.h"

#include <stdbool.h>
#include <sys/types.h>

struct network;

struct job {
	struct box *box;
	struct network *network; // NULL: no network helpers
	pid_t agent;             // in the pid namespace of claudebox; also its process group
	int stop_signal;         // the signal that stopped the agent
	bool stopping;           // init stops the box and has not answered yet
	bool continued;          // SIGCONT arrived meanwhile
};

// Handles a stop of the agent by a signal: requests init to stop all other processes, or continues
// the agent at once.
void job_agent_stopped(struct job *job, int signal_number);
// Handles the answer of init: stops claudebox and its network helpers, and continues the box when
// claudebox is continued. Kills the box if a process of it could not be stopped.
void job_box_stopped(struct job *job, bool all_stopped);
// Handles SIGCONT: continues the box, unless init is about to stop it.
void job_signal_continue(struct job *job);
// Takes the foreground from the agent, or from a process group that has ended, but never from
// another job of the user.
void job_take_foreground(const struct job *job);
