// SPDX-License-Identifier: MIT
// Child processes: waiting for their end, and ending them.
#pragma once

#include <sys/types.h>

// Returns a descriptor that is readable when the process has ended; -1 with errno.
int process_open(pid_t pid);

// Waits for the end of a child, however long that takes. Returns its status as wait(2) gives it, -1 when it is no child.
int process_wait(pid_t pid);

// Kills a child and waits for its end. Returns its status as wait(2) gives it.
int process_kill(pid_t pid);

// Waits for the end of a child and kills it when the timeout is over. Returns its status as wait(2) gives it.
int process_wait_or_kill(pid_t pid, int timeout_ms);

// Returns the exit status that `status`, of wait(2), holds; -1 when the process did not end by itself.
int process_exit_status(int status);
