// SPDX-License-Identifier: MIT
// Waits for processes, kills them, opens their namespaces, and releases memory of this one.
#pragma once

#include <sys/types.h>

// Returns a descriptor that becomes readable when the process ends; -1 with errno.
int process_open(pid_t pid);

// Waits for a child without a timeout. Returns its status as wait(2) reports it, -1 if it is not a
// child.
int process_wait(pid_t pid);

// Kills a child and waits for it. Returns its status as wait(2) reports it.
int process_kill(pid_t pid);

// Waits for a child, and kills it when the timeout expires. Returns its status as wait(2) reports
// it.
int process_wait_or_kill(pid_t pid, int timeout_ms);

// Returns the exit status in a status of wait(2); -1 if a signal ended the process.
int process_exit_status(int status);

// Makes the kernel send a signal to the calling process when its parent ends. Called by a child
// after fork(2); `parent` is the pid of the process that forked. Exits if the parent has ended
// already.
void process_end_with_parent(pid_t parent, int signal_number);

// Unmaps the code and the constants of the program and its libraries; what runs next is read again
// from the page cache. For a process that waits for long after much work.
void process_release_code(void);

// Opens a namespace of a process, /proc/PID/ns/NAME, close-on-exec. Returns -1 with errno on
// failure.
int process_open_namespace(pid_t pid, const char *name);
