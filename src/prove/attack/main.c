// SPDX-License-Identifier: MIT
// The program that attacks the box from inside: probe [FILE], where FILE is the list of what was planted on the host.
//
// Theory of operation: each row of attacks.def has a function. It runs in a child, so that a crash, a hang or a death by the
// system-call filter is the result of that row alone, and writes its verdict into memory that the parent shares. One line a row
// goes to standard output, as soon as it is known; the last line is "end": without it the run is worth nothing.
// An attack that succeeds does no harm: it opens without writing, sends signals that are ignored, and removes what it made.
#define SYSTEM_ENTRY "probe_main"
#include "prove/attack/attack.h"

#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/time_types.h>
#include <linux/wait.h>

enum { LIMIT_MS = 1000, WHOLE_MS = 15000, EXIT_NO_LIST = 2, SIGNAL_BAD_CALL = 31 };

struct outcome *outcome;
struct probe probe; // not initialised here: its zeros would be in the program

static const struct {
	enum verdict (*run)(void);
	const char *id;
} attacks[ATTACK_COUNT] = {
#define ATTACK(id, group, tried, holds) { try_##id, #id },
#include "prove/attacks.def"
#undef ATTACK
};
static const char *const verdict_names[VERDICT_COUNT] = {
	[HELD] = "held",       [LEAKED] = "leaked", [OPEN] = "open",
	[SKIPPED] = "skipped", [FAILED] = "failed",
};

static long now_ms(void)
{
	struct __kernel_timespec now = { 0 };

	call(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, &now, 0, 0);
	return (long)now.tv_sec * 1000 + (long)now.tv_nsec / 1000000;
}

static void *map_memory(long size, int flags, long file)
{
	long address =
		call6(__NR_mmap, 0, size, 1 | 2 /* PROT_READ | PROT_WRITE */, flags, file, 0);

	if (address < 0 && address > -4096)
		return NULL;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
	return (void *)address;
}

// Cuts a line into its fields, in place.
static void add_line(char *line)
{
	struct canary canary = { line, { "", "", "" } };
	size_t field = 0;

	for (char *s = line; *s && field < ARRAY_SIZE(canary.field); s++) {
		if (*s != '\t')
			continue;
		*s = 0;
		canary.field[field++] = s + 1;
	}
	if (text_equal(line, "token"))
		probe.token = canary.field[0];
	else if (text_equal(line, "home"))
		probe.home = canary.field[0];
	else if (text_equal(line, "project"))
		probe.project = canary.field[0];
	else if (text_equal(line, "mark"))
		probe.mark = canary.field[0];
	else if (text_equal(line, "tier")) {
		probe.full = text_equal(canary.field[0], "full");
		probe.inet = text_equal(canary.field[0], "inet");
	} else if (probe.count < CANARIES) {
		probe.canaries[probe.count++] = canary;
	}
}

static bool read_canaries(const char *path)
{
	long file = open_file(path, O_RDONLY);
	long size = call(__NR_lseek, file, 0, 2 /* SEEK_END */, 0);
	char *text = size > 0 ? map_memory(size + 1, 2 /* MAP_PRIVATE */, file) : NULL;

	close_file(file);
	if (!text)
		return false;
	for (char *line = text, *s = text; s < text + size; s++) {
		if (*s != '\n')
			continue;
		*s = 0;
		add_line(line);
		line = s + 1;
	}
	return probe.token[0] != 0;
}

// What the child did not say itself.
static void judge_end(int status)
{
	int number = status & 0x7f;

	if (!number)
		return;
	if (number == SIGNAL_BAD_CALL)
		held("killed by the system-call filter");
	else if (outcome->crash_expected)
		held("killed by signal %d", number);
	else
		gave_up("the attack crashed with signal %d", number);
}

static void run_attack(const enum attack attack, long end)
{
	unsigned long child_ends = 1UL << (SIGCHLD - 1);
	long limit = now_ms() + LIMIT_MS;
	int status = 0;
	long pid;

	gave_up("the attack ended without a result");
	outcome->crash_expected = false;
	pid = limit < end ? fork_child(0) : -EAGAIN;
	if (pid == 0) {
		call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
		attacks[attack].run();
		leave(0);
	}
	if (pid < 0) {
		gave_up("not started: %s", error_name(pid));
		return;
	}
	while (call(__NR_wait4, pid, &status, WNOHANG, NULL) == 0) {
		long left = limit - now_ms();
		struct __kernel_timespec pause = { .tv_sec = left / 1000,
						   .tv_nsec = left % 1000 * 1000000 };

		if (left <= 0) {
			call(__NR_kill, pid, SIGKILL, 0, 0);
			call(__NR_wait4, pid, &status, 0, NULL);
			gave_up("not done within %d ms", LIMIT_MS);
			return;
		}
		call(__NR_rt_sigtimedwait, &child_ends, NULL, &pause, sizeof(child_ends));
	}
	judge_end(status);
	// What the attack left running ends with it: orphans become ours.
	while (call(__NR_wait4, -1, NULL, WNOHANG, NULL) > 0)
		;
}

static void write_out(const char *text)
{
	size_t length = text_length(text);

	while (length) {
		long done = call(__NR_write, 1, text, length, 0);

		if (done <= 0)
			leave(EXIT_NO_LIST);
		text += done;
		length -= (size_t)done;
	}
}

static void print_outcome(const enum attack attack)
{
	char name[64];
	char line[320];
	size_t i = 0;

	for (const char *s = attacks[attack].id; *s && i + 1 < sizeof(name); s++)
		name[i++] = (char)(*s == '_' ? '-' : *s >= 'A' && *s <= 'Z' ? *s + 32 : *s);
	name[i] = 0;
	write_out(text_make(line, sizeof(line), "%s\t%s\t%s\n", name,
			    verdict_names[outcome->verdict], outcome->why));
}

static void read_stack(long *stack)
{
	long *auxiliary;

	probe.environment = (char **)(stack + stack[0] + 2);
	auxiliary = (long *)probe.environment;
	while (*auxiliary++)
		;
	for (; auxiliary[0]; auxiliary += 2)
		if (auxiliary[0] == 6 /* AT_PAGESZ */)
			probe.page = (unsigned long)auxiliary[1];
}

__attribute__((noreturn, used)) void probe_main(long *stack)
{
	char **arguments = (char **)(stack + 1);
	const char *list = stack[0] > 1 ? arguments[1] : "/run/claudebox/canaries";
	unsigned long child_ends = 1UL << (SIGCHLD - 1);
	char line[64];
	long end;

	probe.token = probe.home = "";
	probe.project = ".";
	probe.mark = "claudebox-canary-probe";
	probe.page = 4096;
	read_stack(stack);
	outcome = map_memory(sizeof(*outcome), 1 | 0x20 /* MAP_SHARED | MAP_ANONYMOUS */, -1);
	if (!outcome || !read_canaries(list)) {
		static const char message[] = "probe: cannot read the list of canaries\n";

		call(__NR_write, 2, message, sizeof(message) - 1, 0);
		leave(EXIT_NO_LIST);
	}
	call(__NR_rt_sigprocmask, SIG_BLOCK, &child_ends, NULL, sizeof(child_ends));
	call(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
	end = now_ms() + WHOLE_MS;
	for (enum attack attack = 0; attack < ATTACK_COUNT; attack++) {
		run_attack(attack, end);
		print_outcome(attack);
	}
	write_out(text_make(line, sizeof(line), "end\t%d\t-\n", (int)ATTACK_COUNT));
	leave(0);
}
