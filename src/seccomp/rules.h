// SPDX-License-Identifier: MIT
// The system calls that a box refuses: one table, each row with its reason.
//
// Theory of operation: every call that is not in the table is allowed. Calls of another
// architecture (i386 by int 0x80, x32, 32-bit ARM programs) fail with ENOSYS. Arguments are
// compared by their low 32 bits, because the kernel uses no more of them. At build time generate.c
// and libseccomp turn the table into two BPF programs, one of them without the rows that a nested
// box needs. claudebox contains both, and bwrap loads one into every process of the box, including
// process 1.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum argument_test_kind {
	TEST_NONE,
	TEST_EQUALS,        // the argument is this value
	TEST_ANY_BIT,       // one of these bits is set
	TEST_BITS_NO_QUERY, // the same, but a value with all bits set is a query and passes
	TEST_OTHER, // the argument is none of these values, given as bits: 1 << 2 is the value 2
};

enum {
	OTHER_LIMIT = 256, // the kernel itself refuses values from here on
	MAX_TESTS = 2,
};

struct argument_test {
	enum argument_test_kind kind;
	unsigned int argument; // counted from 0
	uint32_t value;
};

struct seccomp_rule {
	const char *name;
	int number;         // of a call that libseccomp may not support yet, otherwise 0
	int error;          // the errno that the caller gets
	bool unless_nested; // allowed in a nested box
	const char *reason;
	struct argument_test tests[MAX_TESTS]; // the rule applies if all of them hold
};

extern const struct seccomp_rule seccomp_rules[];
extern const size_t seccomp_rule_count;
