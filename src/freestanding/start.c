// SPDX-License-Identifier: MIT
// The entry point of a program without a C library.
#include "freestanding/start.h"

#include "freestanding/syscall.h"

__asm__(".globl _start\n_start:\n" START_CODE "program_main\n");
