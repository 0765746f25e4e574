// SPDX-License-Identifier: MIT
// Clocks, in milliseconds.
#pragma once

#include <stdint.h>

// Returns the time of a clock that never goes back.
int64_t clock_monotonic_ms(void);
// Returns the time since 1970.
int64_t clock_realtime_ms(void);
// Returns the part of a timeout that is left, for poll(2): `timeout_ms` counted from `start_ms`, never negative.
int clock_left_ms(int64_t start_ms, int timeout_ms);
