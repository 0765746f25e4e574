// SPDX-License-Identifier: MIT
// The outcome of an attack: its verdict and the reason.
#pragma once

#include "prove/attack/context.h"
#include "prove/protocol.h"

#include <stdbool.h>

// In memory that the attack's process shares with its parent, so it survives the end of that
// process.
struct outcome {
	int verdict;
	bool crash_expected;
	char why[160];
};
extern struct outcome *outcome;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

// Sets the outcome of the running attack and returns the verdict. See format.h for the format.
enum verdict conclude(enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define blocked(...) conclude(VERDICT_BLOCKED, __VA_ARGS__)
#define leaked(...)  conclude(VERDICT_LEAKED, __VA_ARGS__)
#define skipped(...) conclude(VERDICT_SKIPPED, __VA_ARGS__)
#define not_run(...) conclude(VERDICT_NOT_RUN, __VA_ARGS__)
// For access to the host's network, which the tier full intends.
#define reached(...) conclude(context.full ? VERDICT_OPEN : VERDICT_LEAKED, __VA_ARGS__)

// From here on, a crash means that the attack is blocked.
void expect_crash(void);

// The attempts of an attack, and the most specific error.
struct tries {
	int count;
	long error;
};

// Records the result of a system call. Returns whether it failed.
bool failed(struct tries *tries, long result);

// Returns the verdict of an attack of which no attempt succeeded: blocked, or skipped if there was
// none.
enum verdict all_failed(const struct tries *tries);

// Returns the name of -error, for example "EPERM".
const char *error_name(long error);

// Returns whether a result means that the call was refused.
bool is_refusal(long result);

// Returns the verdict on a call whose arguments are invalid, so that it does nothing: blocked if it
// was refused. Any other error shows that the kernel accepted the call.
enum verdict judge_refusal(struct tries *tries, long result, const char *what);
