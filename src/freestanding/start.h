// SPDX-License-Identifier: MIT
// The entry point of a program without a C library.
#pragma once

// Runs the program; every program defines it. `stack` is the stack as the kernel leaves it: argc,
// the arguments and NULL, the environment and NULL, the auxiliary vector.
__attribute__((noreturn)) void program_main(long *stack);
