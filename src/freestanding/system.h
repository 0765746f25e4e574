// SPDX-License-Identifier: MIT
// System calls without a C library. init is 3 kB, needs nothing of the box, and starts in no time.
// SYSTEM_ENTRY, defined by one file of a program, names the function that the kernel's stack is given to; that file holds
// what the compiler takes for granted, too.
#pragma once

#include <asm/unistd.h>
#include <stddef.h>

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
#define SYSTEM_START "\txor %ebp,%ebp\n\tmov %rsp,%rdi\n\tand $-16,%rsp\n\tcall "
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
#define SYSTEM_START "\tmov x29,#0\n\tmov x30,#0\n\tmov x0,sp\n\tand sp,x0,#-16\n\tbl "
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
// The linker lets code reach data by way of gp, and nobody else sets it.
#define SYSTEM_START                                                                    \
	"\t.option push\n\t.option norelax\n\tla gp,__global_pointer$\n\t.option pop\n" \
	"\tmv a0,sp\n\tandi sp,sp,-16\n\tcall "
#else
#error "init knows x86_64, aarch64 and riscv64: add the two pieces for this machine here"
#endif

// The compiler may call these two whatever the options say.
void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

#ifdef SYSTEM_ENTRY
// The kernel leaves argc, argv and envp on the stack.
__asm__(".globl _start\n_start:\n" SYSTEM_START SYSTEM_ENTRY "\n");

void *memcpy(void *to, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *to, int value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile char *)to)[i] = (char)value;
	return to;
}
#endif

#define call(n, a, b, c, d) call6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
