// SPDX-License-Identifier: MIT
// A small test harness that prints TAP: a line for each check, and the plan at the end.
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

static int check_count;
static int check_failures;

// Prints a text as comment lines, with bytes other than printable ASCII escaped.
static inline void check_note(const char *label, const char *text)
{
	printf("# %s: ", label);
	for (const char *s = text ? text : "(null)"; *s; s++) {
		if (*s == '\n')
			printf("\n# ");
		else if (*s >= ' ' && *s <= '~')
			putchar(*s);
		else
			printf("\\x%02x", (unsigned char)*s);
	}
	putchar('\n');
}

static inline bool check_report(bool ok, const char *file, int line, const char *what)
{
	check_count++;
	check_failures += !ok;
	printf("%s %d - ", ok ? "ok" : "not ok", check_count);
	for (const char *s = what; *s; s++)
		putchar(*s < ' ' || *s > '~' || *s == '#' ? '?' : *s);
	printf(" (%s:%d)\n", file, line);
	return ok;
}

static inline void check_string(const char *got, const char *wanted, const char *file, int line,
				const char *what)
{
	if (check_report(str_equal(got, wanted), file, line, what))
		return;
	check_note("got", got);
	check_note("wanted", wanted);
}

// Prints the plan. Returns the exit status: 1 when a check failed or there was none.
static inline int check_done(void)
{
	printf("1..%d\n", check_count);
	return check_failures || !check_count;
}

// Returns the factor for the rounds of tests that repeat something; `make stress` sets it.
static inline int check_stress(void)
{
	const char *factor = getenv("STRESS");
	int value = factor ? (int)strtol(factor, NULL, 10) : 1;

	return value > 1 ? value : 1;
}

#define CHECK(condition) check_report((condition), __FILE_NAME__, __LINE__, #condition)
// For rows of a table: `what` is the name of the row.
#define CHECK_CASE(condition, what) check_report((condition), __FILE_NAME__, __LINE__, (what))
#define CHECK_STRING(got, wanted) \
	check_string((got), (wanted), __FILE_NAME__, __LINE__, #got " is " #wanted)
#define CHECK_CASE_STRING(got, wanted, what) \
	check_string((got), (wanted), __FILE_NAME__, __LINE__, (what))
