// SPDX-License-Identifier: MIT
// The attack program, which attacks the box from inside: attack [FILE], where FILE is the list of
// canaries.
//
// Theory of operation: each row of attacks.def has a function. It runs in a child process, so that
// a crash, a hang or a kill by the seccomp filter is the result of that attack alone. The child
// writes its verdict to memory that it shares with the parent, which prints one line for each
// attack as soon as its verdict is known. An attack that succeeds does no harm: it opens files
// without writing, sends signals that are ignored, and removes what it created. Calls that would
// change the machine get invalid arguments, so that a refusal (EPERM, ENOSYS) differs from an
// accepted call (EINVAL, ENOENT).
#include "freestanding/memory.h"
#include "freestanding/process.h"
#include "freestanding/start.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/time_types.h>
#include <linux/wait.h>

enum { ATTACK_TIMEOUT_MS = 1000, TIMEOUT_MS = 15000, EXIT_NO_LIST = 2 };

static const unsigned long child_signal = 1UL << (SIGCHLD - 1);

static enum verdict (*const functions[ATTACK_COUNT])(void) = {
#define ATTACK(id, group, tried, blocked_by) try_##id,
#include "prove/attacks.def"
};

// Sets the outcome of an attack whose process a signal has killed.
static void judge_signal(int number)
{
	if (number == SIGSYS)
		blocked("killed by the seccomp filter");
	else if (outcome->crash_expected)
		blocked("killed by signal %d", number);
	else
		not_run("the attack crashed with signal %d", number);
}

// Waits for the process of an attack, and kills it after `end`. Returns its status, or -1 after a
// kill.
static int wait_for_attack(long pid, long end)
{
	int status = 0;

	while (call(__NR_wait4, pid, &status, WNOHANG, NULL) == 0) {
		long left = end - clock_ms();
		struct __kernel_timespec pause = { .tv_sec = left / 1000,
						   .tv_nsec = left % 1000 * 1000000 };

		if (left <= 0) {
			call(__NR_kill, pid, SIGKILL, 0, 0);
			call(__NR_wait4, pid, &status, 0, NULL);
			return -1;
		}
		call(__NR_rt_sigtimedwait, &child_signal, NULL, &pause, sizeof(child_signal));
	}
	return status;
}

// Runs an attack in a child process; its outcome is in `outcome`. No attack starts that could run
// beyond `last`.
static void run_attack(enum attack_id attack, long last)
{
	long end = clock_ms() + ATTACK_TIMEOUT_MS;
	long pid = -EAGAIN;
	int status;

	not_run("the attack ended without a result");
	outcome->crash_expected = false;
	if (end < last)
		pid = fork_process(0);
	if (pid == 0) {
		call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
		functions[attack]();
		exit_program(0);
	}
	if (pid < 0) {
		not_run("cannot start the attack: %s", error_name(pid));
		return;
	}
	status = wait_for_attack(pid, end);
	if (status < 0) {
		not_run("no result within %d ms", ATTACK_TIMEOUT_MS);
		return;
	}
	if (status & 0x7f)
		judge_signal(status & 0x7f);
	// This process is the subreaper of processes that the attack left running.
	while (call(__NR_wait4, -1, NULL, WNOHANG, NULL) > 0)
		;
}

static void write_output(const char *text)
{
	size_t length = text_length(text);

	while (length) {
		long done = call(__NR_write, 1, text, length, 0);

		if (done <= 0)
			exit_program(EXIT_NO_LIST);
		text += done;
		length -= (size_t)done;
	}
}

static void print_outcome(enum attack_id attack)
{
	char name[ATTACK_NAME_SIZE];
	char line[320];

	attack_write_name(attack, name);
	write_output(text_format(line, sizeof(line), "%s\t%s\t%s\n", name,
				 verdict_names[outcome->verdict], outcome->why));
}

__attribute__((used)) void program_main(long *stack)
{
	static const char message[] = "attack: cannot read the list of canaries\n";
	char **arguments = (char **)(stack + 1);
	const char *list = stack[0] > 1 ? arguments[1] : BOX_CANARIES;
	char line[64];
	long last;

	outcome = map_memory(sizeof(*outcome), MAP_SHARED | MAP_ANONYMOUS, -1);
	if (!outcome || !read_context(stack, list)) {
		call(__NR_write, 2, message, sizeof(message) - 1, 0);
		exit_program(EXIT_NO_LIST);
	}
	call(__NR_rt_sigprocmask, SIG_BLOCK, &child_signal, NULL, sizeof(child_signal));
	call(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
	last = clock_ms() + TIMEOUT_MS;
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		run_attack(attack, last);
		print_outcome(attack);
	}
	write_output(text_format(line, sizeof(line), PROTOCOL_END "\t%d\t-\n", (int)ATTACK_COUNT));
	exit_program(0);
}
