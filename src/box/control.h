// SPDX-License-Identifier: MIT
// Sends and receives messages on the control socket between the supervisor and init.
#pragma once

#include "init/protocol.h"

#include <stdbool.h>
#include <sys/types.h>

enum control_result {
	CONTROL_NONE,    // no message is available
	CONTROL_MESSAGE, // a message was received
	CONTROL_CLOSED,  // init has closed its end
};

// Sends a message to init. Returns false with errno on failure.
bool control_send(int control_fd, int kind, int value);

// Receives a message without blocking. *ret_sender is the pid of the sender in the pid namespace of
// claudebox, as the kernel reports it.
enum control_result control_receive(int control_fd, struct message *ret_message, pid_t *ret_sender);

// Waits for the first message of init, which it sends when bwrap has set up the sandbox. Returns
// CONTROL_CLOSED if bwrap ends before; `bwrap_end` is its pidfd or -1. Returns CONTROL_NONE when
// the timeout expires.
enum control_result control_wait(int control_fd, int bwrap_end, struct message *ret_message,
				 pid_t *ret_sender);
