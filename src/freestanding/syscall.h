// SPDX-License-Identifier: MIT
// System calls without a C library, for the programs that run inside the box: init, the wrapper
// of git and the attack program. A program without a C library is small, starts fast and needs no
// file of the box.
#pragma once

#include <asm/unistd.h>

// call6 makes system call n with six arguments and returns its result or -errno. START_CODE passes
// the initial stack pointer to the function whose name follows it.
#if defined(__x86_64__)
static inline long call6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#define START_CODE "\txor %ebp,%ebp\n\tmov %rsp,%rdi\n\tand $-16,%rsp\n\tcall "
#elif defined(__aarch64__)
static inline long call6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#define START_CODE "\tmov x29,#0\n\tmov x30,#0\n\tmov x0,sp\n\tand sp,x0,#-16\n\tbl "
#elif defined(__riscv) && __riscv_xlen == 64
static inline long call6(long n, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = n;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
}
// The linker relaxes accesses to data to use gp, which the program must set itself.
#define START_CODE                                                                      \
	"\t.option push\n\t.option norelax\n\tla gp,__global_pointer$\n\t.option pop\n" \
	"\tmv a0,sp\n\tandi sp,sp,-16\n\tcall "
#else
#error "supported machines are x86_64, aarch64 and riscv64: define call6 and START_CODE here"
#endif

// Makes system call n with up to four arguments of any scalar type. Returns its result or -errno.
#define call(n, a, b, c, d) call6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
