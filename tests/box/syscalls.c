// SPDX-License-Identifier: MIT
// Makes system calls as test_filter.py tells it, one a line: HOW NUMBER and up to six arguments; says what each returned.
//
// HOW is native, x32 (the same instruction, another table) or i386 (int 0x80 in a 64-bit program). With --thread all of it
// happens in a second thread.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS = 6, X32_BIT = 0x40000000 };

#if defined(__x86_64__)
static long foreign_call(long number, const unsigned long *a)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
			 : "r8", "r9", "r10", "r11", "memory");
	return result;
}
#else
static long foreign_call(long number, const unsigned long *a)
{
	(void)number;
	(void)a;
	return -ENOSYS;
}
#endif

static long native_call(long number, const unsigned long *a)
{
	long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	return result < 0 ? -errno : result;
}

static void *obey(void *unused)
{
	char line[256];

	(void)unused;
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long a[ARGUMENTS] = { 0 };
		char how[8] = "";
		long number = -1;
		long result;

		sscanf(line, "%7s %ld %lu %lu %lu %lu %lu %lu", how, &number, &a[0], &a[1], &a[2],
		       &a[3], &a[4], &a[5]);
		if (strcmp(how, "i386") == 0)
			result = foreign_call(number, a);
		else
			result =
				native_call(strcmp(how, "x32") == 0 ? number | X32_BIT : number, a);
		printf("%ld\n", result);
		fflush(stdout);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || strcmp(argv[1], "--thread") != 0)
		return obey(NULL) != NULL;
	return pthread_create(&thread, NULL, obey, NULL) || pthread_join(thread, NULL);
}
