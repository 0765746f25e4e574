// SPDX-License-Identifier: MIT
// The system calls that a box refuses: one table, each row with its reason.
//
// Theory of operation: every call that is not in the table is allowed, up to the newest call that
// was reviewed for it; later ones fail with ENOSYS. Calls of another
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
	TEST_IOCTL_TYPE, // a request of a type except three numbers, given by IOCTL_TYPE
	TEST_MODE,       // bits of a file mode that are set and bits that are not, given by MODE
};

enum {
	OTHER_LIMIT = 256, // the kernel itself refuses values from here on
	MAX_TESTS = 2,
};

// An ioctl request has its type in bits 8 to 15 and its number in bits 0 to 7.
#define IOCTL_TYPE(type, first, second, third) \
	((type) | (first) << 8 | (second) << 16 | (uint32_t)(third) << 24)

// A file mode with all bits of `set` and no bit of `clear`.
#define MODE(set, clear) ((set) | (uint32_t)(clear) << 16)

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

// The newest call that was reviewed. From number 424 on, all machines have the same numbers.
struct newest_call {
	const char *name;
	int number;
	const char *kernel; // the first one that has it
};

extern const struct newest_call seccomp_newest;
extern const struct seccomp_rule seccomp_rules[];
extern const size_t seccomp_rule_count;
