// SPDX-License-Identifier: MIT
// Makes the system calls that test_seccomp.py sends, one per line: HOW NUMBER and up to six
// arguments. Prints the result of each.
//
// HOW is native, x32 (the same instruction with another table) or 32-bit (as a 32-bit program makes
// it, with at most three arguments). With --thread the calls are made in a second thread.
#include "prove/attack/call_32_bit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS = 6, X32_BIT = 0x40000000 };

#ifdef HAS_CALLS_OF_32_BIT
static long foreign_call(long number, const unsigned long *a)
{
	return call_32_bit(number, (long)a[0], (long)a[1], (long)a[2]);
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

static void *run_calls(void *unused)
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
		if (strcmp(how, "32-bit") == 0)
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
		return run_calls(NULL) != NULL;
	return pthread_create(&thread, NULL, run_calls, NULL) || pthread_join(thread, NULL);
}
