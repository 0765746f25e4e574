// SPDX-License-Identifier: MIT
// The socket between the supervisor and init.
#pragma once

#include "init/protocol.h"

#include <stdbool.h>
#include <sys/types.h>

bool control_say(int control, int kind, int value);

enum heard { HEARD_NOTHING, HEARD_MESSAGE, HEARD_END };
// Does not wait. The sender's number is ours, not the box's.
enum heard control_hear(int control, struct message *ret_message, pid_t *ret_sender);

// Waits for the first word of init, which speaks when bwrap is done. HEARD_NOTHING: it takes too long.
enum heard control_await(int control, struct message *ret_message, pid_t *ret_sender);
