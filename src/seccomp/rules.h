// SPDX-License-Identifier: MIT
// The system calls that a box refuses: one table, each row with its reason.
//
// Theory of operation: everything that is not in the table is allowed; a call of another machine (i386 by int 0x80, x32, a
// 32-bit ARM program) does not exist. Arguments are compared by their low 32 bits, for the kernel looks at no more of them.
// At build time generate.c has libseccomp make two programs of the table, one without the rows that a nested box needs;
// claudebox carries them as bytes, and bwrap loads one into every process of the box, the first included.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_test_kind {
	TEST_NONE,
	TEST_EQUALS,        // the argument is this value
	TEST_ANY_BIT,       // one of these bits is set
	TEST_BITS_NO_QUERY, // the same, but the value with all bits set asks a question and passes
	TEST_OTHER, // the argument is none of these values, given as bits: 1 << 2 is the value 2
};

enum {
	OTHER_LIMIT = 256, // the kernel knows no value from here on, and refuses them itself
	MOST_TESTS = 2,
};

struct filter_test {
	enum filter_test_kind kind;
	unsigned int argument; // counted from 0
	uint32_t value;
};

struct filter_rule {
	const char *name;
	int number; // for a call that libseccomp may not know yet: the same on all machines. 0: it does
	int error;          // what the caller gets
	bool unless_nested; // a nested box has it
	const char *reason;
	struct filter_test tests[MOST_TESTS]; // all of them must hold
};

extern const struct filter_rule filter_rules[];
extern const size_t filter_rule_count;
