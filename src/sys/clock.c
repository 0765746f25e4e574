// SPDX-License-Identifier: MIT
// Reads clocks, in milliseconds, and compares times.
#include "sys/clock.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return clock_ms(&now);
}

int64_t clock_ns(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

int64_t clock_ms(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

int64_t clock_monotonic_ms(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_realtime_ms(void)
{
	return read_clock(CLOCK_REALTIME);
}

bool clock_is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

int clock_left_ms(int64_t start_ms, int timeout_ms)
{
	int64_t passed = clock_monotonic_ms() - start_ms;

	return passed < timeout_ms ? (int)(timeout_ms - passed) : 0;
}
