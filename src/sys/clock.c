// SPDX-License-Identifier: MIT
// Reads clocks, in milliseconds.
#include "sys/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_monotonic_ms(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_realtime_ms(void)
{
	return read_clock(CLOCK_REALTIME);
}

int clock_left_ms(int64_t start_ms, int timeout_ms)
{
	int64_t passed = clock_monotonic_ms() - start_ms;

	return passed < timeout_ms ? (int)(timeout_ms - passed) : 0;
}
