// SPDX-License-Identifier: MIT
// The smallest harness that speaks TAP: each check is a line, the plan comes last.
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

static int check_count;
static int check_failures;

// Whoever reads the lines may not expect any byte, and further lines must not look like results.
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

static inline int check_done(void)
{
	printf("1..%d\n", check_count);
	return check_failures || !check_count;
}

#define CHECK(condition) check_report((condition), __FILE_NAME__, __LINE__, #condition)
// For the rows of a table: `what` names the row.
#define CHECK_CASE(condition, what) check_report((condition), __FILE_NAME__, __LINE__, (what))
#define CHECK_STRING(got, wanted) \
	check_string((got), (wanted), __FILE_NAME__, __LINE__, #got " is " #wanted)
#define CHECK_CASE_STRING(got, wanted, what) \
	check_string((got), (wanted), __FILE_NAME__, __LINE__, (what))
