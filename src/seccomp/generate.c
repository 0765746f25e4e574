// SPDX-License-Identifier: MIT
// Generates the BPF programs of the seccomp filter from the table, at build time: generate MACHINE
// prints C source, generate MACHINE --list prints the rules as JSON for the tests.
#include "seccomp/rules.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BITS = 32, MAX_PATTERNS = 128 };

// Holds if the argument, under a mask, has this value.
struct pattern {
	unsigned int argument;
	uint32_t mask;
	uint32_t value;
};

struct patterns {
	struct pattern items[MAX_PATTERNS];
	size_t count;
};

static _Noreturn void fail(const char *what, const char *name, int error)
{
	fprintf(stderr, "seccomp-generator: %s '%s': %s\n", what, name, strerror(error));
	exit(1);
}

static void add_pattern(struct patterns *patterns, const struct argument_test *test, uint32_t mask,
			uint32_t value)
{
	if (patterns->count == MAX_PATTERNS)
		fail("too many patterns", "table", E2BIG);
	patterns->items[patterns->count++] =
		(struct pattern){ .argument = test->argument, .mask = mask, .value = value };
}

static bool is_listed(const struct argument_test *test, uint32_t value)
{
	if (test->kind == TEST_IOCTL_TYPE)
		return value == (test->value >> 8 & 0xff) || value == (test->value >> 16 & 0xff) ||
		       value == test->value >> 24;
	return value < BITS && test->value >> value & 1;
}

// Adds patterns for all values from `from` on that the test does not list: blocks whose size is a
// power of two and that contain no listed value.
static void add_other(struct patterns *patterns, const struct argument_test *test, uint32_t from,
		      uint32_t size)
{
	uint32_t mask = ~(size - 1);
	bool hit = false;

	for (uint32_t value = from; value < from + size; value++)
		hit |= is_listed(test, value);
	if (hit && size > 1) {
		add_other(patterns, test, from, size / 2);
		add_other(patterns, test, from + size / 2, size / 2);
	}
	if (hit)
		return;
	if (test->kind == TEST_IOCTL_TYPE)
		add_pattern(patterns, test, mask & 0xffff, (test->value & 0xff) << 8 | from);
	else
		add_pattern(patterns, test, mask, from);
}

// Returns the patterns that together are equivalent to the test.
static struct patterns expand_test(const struct argument_test *test)
{
	const uint32_t top = 1U << (BITS - 1);
	struct patterns patterns = { 0 };

	if (test->kind == TEST_EQUALS)
		add_pattern(&patterns, test, ~0U, test->value);
	if (test->kind == TEST_MODE)
		add_pattern(&patterns, test, (test->value | test->value >> 16) & 0xffff,
			    test->value & 0xffff);
	if (test->kind == TEST_OTHER || test->kind == TEST_IOCTL_TYPE)
		add_other(&patterns, test, 0, OTHER_LIMIT);
	for (uint32_t bit = 1; bit; bit <<= 1) {
		bool wanted = test->value & bit;

		if (test->kind == TEST_ANY_BIT && wanted)
			add_pattern(&patterns, test, bit, bit);
		if (test->kind != TEST_BITS_NO_QUERY || bit == top)
			continue;
		// A value without the top bit is no query, and neither is one that lacks another
		// bit.
		if (wanted)
			add_pattern(&patterns, test, top | bit, bit);
		add_pattern(&patterns, test, top | bit, top);
	}
	return patterns;
}

// Handles one combination of conditions of a rule.
typedef void rule_function(void *context, const struct seccomp_rule *rule, int number,
			   const struct pattern *const *conditions, size_t count);

// Calls the function for each combination of the patterns of a rule's tests.
static void each_combination(const struct seccomp_rule *rule, int number, rule_function *function,
			     void *context)
{
	struct patterns first = expand_test(&rule->tests[0]);
	struct patterns second = expand_test(&rule->tests[1]);
	const struct pattern *conditions[MAX_TESTS];

	if (!first.count)
		function(context, rule, number, NULL, 0);
	for (size_t i = 0; i < first.count; i++) {
		conditions[0] = &first.items[i];
		if (!second.count)
			function(context, rule, number, conditions, 1);
		for (size_t k = 0; k < second.count; k++) {
			conditions[1] = &second.items[k];
			function(context, rule, number, conditions, 2);
		}
	}
}

// Returns the number of the call on a machine. libseccomp has negative numbers for calls that the
// machine does not have.
static int find_number(const struct seccomp_rule *rule, uint32_t machine)
{
	int number = seccomp_syscall_resolve_name_arch(machine, rule->name);

	if (number != __NR_SCMP_ERROR)
		return number;
	if (!rule->number)
		fail("no such system call", rule->name, ENOSYS);
	return rule->number;
}

// Returns whether libseccomp generates the instructions of a rule. It does not know the newest
// calls, and needs 180 instructions for a query.
static bool is_for_libseccomp(const struct seccomp_rule *rule)
{
	return seccomp_syscall_resolve_name(rule->name) != __NR_SCMP_ERROR &&
	       rule->tests[0].kind != TEST_BITS_NO_QUERY;
}

static void add_rule(void *context, const struct seccomp_rule *rule, int number,
		     const struct pattern *const *conditions, size_t count)
{
	struct scmp_arg_cmp compare[MAX_TESTS];
	int result;

	for (size_t i = 0; i < count; i++)
		compare[i] = SCMP_CMP64(conditions[i]->argument, SCMP_CMP_MASKED_EQ,
					conditions[i]->mask, conditions[i]->value);
	result = seccomp_rule_add_array(context, SCMP_ACT_ERRNO((uint32_t)rule->error), number,
					(unsigned int)count, compare);
	if (result < 0)
		fail("cannot add", rule->name, -result);
}

// Returns a seccomp filter with all rules that are for libseccomp.
static scmp_filter_ctx build_seccomp_filter(uint32_t machine, bool nested)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter || (machine != seccomp_arch_native() &&
			(seccomp_arch_add(filter, machine) < 0 ||
			 seccomp_arch_remove(filter, seccomp_arch_native()) < 0)))
		fail("cannot create", "filter", ENOMEM);
	if (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) < 0 ||
	    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		fail("cannot set up", "filter", EINVAL);
	for (size_t i = 0; i < seccomp_rule_count; i++) {
		const struct seccomp_rule *rule = &seccomp_rules[i];

		// libseccomp expects the numbers of the build machine and translates them.
		if (!(nested && rule->unless_nested) && is_for_libseccomp(rule) &&
		    find_number(rule, machine) >= 0)
			each_combination(rule, find_number(rule, seccomp_arch_native()), add_rule,
					 filter);
	}
	return filter;
}

static void write_steps(int fd, const struct sock_filter *steps, size_t count)
{
	ssize_t size = (ssize_t)(count * sizeof(*steps));

	if (write(fd, steps, (size_t)size) != size)
		fail("cannot write", "filter", errno);
}

// Returns where the low 32 bits of an argument are. All supported machines are little-endian.
static uint32_t argument_offset(unsigned int argument)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + sizeof(uint64_t) * argument);
}

// Writes instructions for one combination of a rule's conditions.
static void write_rule(void *context, const struct seccomp_rule *rule, int number,
		       const struct pattern *const *conditions, size_t count)
{
	struct sock_filter steps[2 + 3 * MAX_TESTS + 1];
	// Each jump goes to the instruction after the last one.
	unsigned char left = (unsigned char)(3 * count + 1);
	size_t at = 0;

	steps[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	steps[at++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, left);
	for (size_t i = 0; i < count; i++) {
		left = (unsigned char)(left - 3);
		steps[at++] = (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, argument_offset(conditions[i]->argument));
		steps[at++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
							   conditions[i]->mask);
		steps[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   conditions[i]->value, 0, left);
	}
	steps[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						   SECCOMP_RET_ERRNO | (uint32_t)rule->error);
	write_steps(*(int *)context, steps, at);
}

// Writes instructions for a rule with a query.
static void write_query_rule(int fd, const struct seccomp_rule *rule, int number)
{
	const struct argument_test *test = &rule->tests[0];
	const struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_offset(test->argument)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ~0U, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, test->value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)rule->error),
	};

	write_steps(fd, steps, sizeof(steps) / sizeof(steps[0]));
}

// Writes instructions for later calls and for the rules that are not for libseccomp, to run before
// its own. They do not compare the architecture: libseccomp's part refuses every call of another
// one.
static void write_first_part(int fd, uint32_t machine, bool nested)
{
	const struct sock_filter later[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)seccomp_newest.number, 0, 2),
		// A debugger sets -1 to skip a call. No kernel has it.
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ~0U, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	write_steps(fd, later, sizeof(later) / sizeof(later[0]));
	for (size_t i = 0; i < seccomp_rule_count; i++) {
		const struct seccomp_rule *rule = &seccomp_rules[i];

		if (is_for_libseccomp(rule) || (nested && rule->unless_nested))
			continue;
		if (rule->tests[0].kind == TEST_BITS_NO_QUERY)
			write_query_rule(fd, rule, find_number(rule, machine));
		else
			each_combination(rule, find_number(rule, machine), write_rule, &fd);
	}
}

static void write_program(uint32_t machine, bool nested, const char *name)
{
	scmp_filter_ctx filter = build_seccomp_filter(machine, nested);
	int fd = memfd_create(name, MFD_CLOEXEC);
	unsigned char byte;
	int result;

	write_first_part(fd, machine, nested);
	result = seccomp_export_bpf(filter, fd);
	if (result < 0)
		fail("cannot write", name, -result);
	lseek(fd, 0, SEEK_SET);
	printf("static const unsigned char %s[] = {", name);
	for (size_t at = 0; read(fd, &byte, 1) == 1; at++)
		printf("%s%u,", at % 16 ? "" : "\n", byte);
	printf("\n};\n");
	close(fd);
	seccomp_release(filter);
}

static void list_rule(void *context, const struct seccomp_rule *rule, int number,
		      const struct pattern *const *conditions, size_t count)
{
	const char **separator = context;

	printf("%s{\"call\": \"%s\", \"number\": %d, \"error\": %d, \"unless_nested\": %s, "
	       "\"reason\": \"%s\", \"conditions\": [",
	       *separator, rule->name, number, rule->error, rule->unless_nested ? "true" : "false",
	       rule->reason);
	for (size_t i = 0; i < count; i++)
		printf("%s[%u, %u, %u]", i ? ", " : "", conditions[i]->argument,
		       conditions[i]->mask, conditions[i]->value);
	printf("]}");
	*separator = ",\n";
}

// Lists the rules, and the first of the later calls, which all get the same error.
static void list_rules(uint32_t machine)
{
	const struct seccomp_rule later = { .name = "later",
					    .error = ENOSYS,
					    .reason = "is later than the newest call reviewed" };
	const char *separator = "";

	printf("[");
	for (size_t i = 0; i < seccomp_rule_count; i++)
		each_combination(&seccomp_rules[i], find_number(&seccomp_rules[i], machine),
				 list_rule, &separator);
	list_rule(&separator, &later, seccomp_newest.number + 1, NULL, 0);
	printf("]\n");
}

int main(int argc, char **argv)
{
	uint32_t machine = argc > 1 ? seccomp_arch_resolve_name(argv[1]) : 0;

	if (!machine)
		fail("unknown machine", argc > 1 ? argv[1] : "", EINVAL);
	if (argc > 2 && strcmp(argv[2], "--list") == 0) {
		list_rules(machine);
		return 0;
	}
	printf("#include \"seccomp/programs.h\"\n");
	write_program(machine, false, "strict");
	write_program(machine, true, "nested");
	printf("const struct seccomp_program seccomp_programs[SECCOMP_COUNT] = {\n"
	       "\t[SECCOMP_STRICT] = { \"strict\", strict, sizeof(strict) },\n"
	       "\t[SECCOMP_NESTED] = { \"nested\", nested, sizeof(nested) },\n};\n");
	return fflush(stdout) == 0 ? 0 : 1;
}
