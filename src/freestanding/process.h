// SPDX-License-Identifier: MIT
// Processes and time for programs without a C library.
#pragma once

// Ends the process and all its threads.
__attribute__((noreturn)) void exit_program(int status);

// Creates a child process, as fork(2) does; `flags` are CLONE_NEW* flags of clone(2). Returns 0 in
// the child, and the child's process id or -errno in the parent.
long fork_process(unsigned long flags);

// Returns the time of a clock that never goes back, in milliseconds.
long clock_ms(void);
