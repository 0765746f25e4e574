// SPDX-License-Identifier: MIT
// Reads clocks, in milliseconds, and compares times.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Returns the time of CLOCK_MONOTONIC.
int64_t clock_monotonic_ms(void);
// Returns the time since 1970-01-01.
int64_t clock_realtime_ms(void);
// Returns a time of a file in the same unit.
int64_t clock_ms(const struct timespec *time);
// Does the same in nanoseconds.
int64_t clock_ns(const struct timespec *time);
// Returns whether `a` is later than `b`.
bool clock_is_later(const struct timespec *a, const struct timespec *b);
// Returns the rest of a timeout that began at `start_ms` (CLOCK_MONOTONIC), for poll(2); 0 if it
// has expired.
int clock_left_ms(int64_t start_ms, int timeout_ms);
