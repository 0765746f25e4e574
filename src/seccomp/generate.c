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

// Adds patterns for all values from `from` on that the test does not list: blocks whose size is a
// power of two and that contain no listed value.
static void add_other(struct patterns *patterns, const struct argument_test *test, uint32_t from,
		      uint32_t size)
{
	bool hit = false;

	for (uint32_t value = from; value < from + size && value < BITS; value++)
		hit |= test->value >> value & 1;
	if (!hit) {
		add_pattern(patterns, test, ~(size - 1), from);
	} else if (size > 1) {
		add_other(patterns, test, from, size / 2);
		add_other(patterns, test, from + size / 2, size / 2);
	}
}

// Returns the patterns that together are equivalent to the test.
static struct patterns expand_test(const struct argument_test *test)
{
	const uint32_t top = 1U << (BITS - 1);
	struct patterns patterns = { 0 };

	if (test->kind == TEST_EQUALS)
		add_pattern(&patterns, test, ~0U, test->value);
	if (test->kind == TEST_OTHER)
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

static bool is_known(const struct seccomp_rule *rule)
{
	return seccomp_syscall_resolve_name(rule->name) != __NR_SCMP_ERROR;
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

// Returns a seccomp filter with all rules that libseccomp supports.
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
		if (!(nested && rule->unless_nested) && is_known(rule) &&
		    find_number(rule, machine) >= 0)
			each_combination(rule, find_number(rule, seccomp_arch_native()), add_rule,
					 filter);
	}
	return filter;
}

// Writes instructions for the calls that libseccomp does not support, to run before its own. They
// do not compare the architecture: libseccomp's part refuses every call of another one.
static void write_unknown_calls(int fd, bool nested)
{
	for (size_t i = 0; i < seccomp_rule_count; i++) {
		const struct seccomp_rule *rule = &seccomp_rules[i];
		const struct sock_filter steps[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->number, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		};

		if (is_known(rule) || (nested && rule->unless_nested))
			continue;
		if (rule->error != ENOSYS || rule->tests[0].kind != TEST_NONE)
			fail("unsupported row", rule->name, EINVAL);
		if (write(fd, steps, sizeof(steps)) != sizeof(steps))
			fail("cannot write", rule->name, errno);
	}
}

static void write_program(uint32_t machine, bool nested, const char *name)
{
	scmp_filter_ctx filter = build_seccomp_filter(machine, nested);
	int fd = memfd_create(name, MFD_CLOEXEC);
	unsigned char byte;
	int result;

	write_unknown_calls(fd, nested);
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

static void list_rules(uint32_t machine)
{
	const char *separator = "";

	printf("[");
	for (size_t i = 0; i < seccomp_rule_count; i++)
		each_combination(&seccomp_rules[i], find_number(&seccomp_rules[i], machine),
				 list_rule, &separator);
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
