// SPDX-License-Identifier: MIT
// System calls of 32-bit programs, which a 64-bit kernel may offer. The numbers that are used here
// are the same on i386 and on ARM. A call returns its result or -errno; on ARM a successful call
// returns 0.
#pragma once

#include "freestanding/syscall.h"

#if defined(__x86_64__)
#define HAS_CALLS_OF_32_BIT

// The address of a space character. Addresses of a program that is not PIE fit into 32 bits.
#define SPACE_OF_32_BIT ((long)" ")

static inline long call_32_bit(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}
#elif defined(__aarch64__)
#define HAS_CALLS_OF_32_BIT

#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/signal.h>
#include <stdint.h>

// A 32-bit program that makes the call, because a 64-bit ARM program cannot. SIGTRAP means that the
// call succeeded, the exit status is its errno. If exit itself is refused, SIGILL ends the program.
struct arm_program {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	uint32_t code[10];
	uint32_t arguments[3];
	uint32_t number;
	char space[4];
};

enum { ARM_ADDRESS = 0x10000 }; // a multiple of every page size

#define SPACE_OF_32_BIT (ARM_ADDRESS + (long)offsetof(struct arm_program, space))

static inline long call_32_bit(long number, long a, long b, long c)
{
	static const struct arm_program original = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_ARM,
			    .e_version = EV_CURRENT,
			    .e_entry = ARM_ADDRESS + offsetof(struct arm_program, code),
			    .e_phoff = offsetof(struct arm_program, segment),
			    .e_flags = 0x05000000 /* EABI 5 */,
			    .e_ehsize = sizeof(Elf32_Ehdr),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_vaddr = ARM_ADDRESS,
			     .p_filesz = sizeof(original),
			     .p_memsz = sizeof(original),
			     .p_flags = PF_R | PF_X,
			     .p_align = ARM_ADDRESS },
		.code = { 0xe28f4020,   // add r4, pc, #32: the arguments
			  0xe8940087,   // ldm r4, {r0, r1, r2, r7}
			  0xef000000,   // svc 0
			  0xe3700a01,   // cmn r0, #4096
			  0x2a000000,   // bcs: skip the next instruction on error
			  0xe1200070,   // bkpt
			  0xe2600000,   // rsb r0, r0, #0
			  0xe3a07001,   // mov r7, #1: exit
			  0xef000000,   // svc 0
			  0xe7f000f0 }, // udf
		.space = " ",
	};
	struct arm_program program = original;
	char *arguments[] = { program.space, NULL };
	long file = call(__NR_memfd_create, program.space, 0, 0, 0);
	int status = 0;
	long pid;

	program.arguments[0] = (uint32_t)a;
	program.arguments[1] = (uint32_t)b;
	program.arguments[2] = (uint32_t)c;
	program.number = (uint32_t)number;
	if (file < 0)
		return file;
	call(__NR_write, file, &program, sizeof(program), 0);
	pid = call(__NR_clone, SIGCHLD, 0, 0, 0);
	if (pid == 0) {
		call(__NR_fcntl, a, F_SETFD, 0, 0); // if it is a descriptor, the program needs it
		status = (int)-call6(__NR_execveat, file, (long)"", (long)arguments,
				     (long)(arguments + 1), AT_EMPTY_PATH, 0);
		for (;;)
			call(__NR_exit_group, status, 0, 0, 0);
	}
	call(__NR_close, file, 0, 0, 0);
	if (pid < 0)
		return pid;
	call(__NR_wait4, pid, &status, 0, NULL);
	if ((status & 0x7f) == 0)
		return -(status >> 8 & 0xff);
	return (status & 0x7f) == SIGTRAP ? 0 : -38 /* ENOSYS */;
}
#endif
