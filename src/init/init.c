// SPDX-License-Identifier: MIT
// Process 1 of the box: starts the agent, forwards signals, reaps orphans, and exits when the agent
// or the supervisor exits.
//
// Theory of operation: the agent gets its own process group, so that Ctrl+C and Ctrl+Z reach only
// the agent, and kill(0, …) inside the box reaches no process outside. init blocks all signals and
// reads them from a signalfd. Signals for the agent come from the supervisor through the control
// socket, never from a kill inside the box. When init exits, the kernel kills every process of the
// box.
#include "init/landlock.h"
#include "init/protocol.h"
#include "init/stop.h"

#include "freestanding/memory.h"
#include "freestanding/process.h"
#include "freestanding/start.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "init/limits.h"

#include <asm/errno.h>
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/signalfd.h>
#include <linux/time_types.h>
#include <linux/wait.h>
#include <stdbool.h>

enum {
	SIGNAL_COUNT = 64,
	EXIT_NO_COMMAND = 125,
	EXIT_SIGNAL_BASE = 128,
	END_TIMEOUT_MS = 500, // for background processes after the end of the agent
	END_POLL_MS = 20,
	MAX_DESCRIPTORS = 65536,
	MAX_VARIABLES = 4096,
};

struct init {
	int control;
	int signals;
	long agent; // process id and process group of the agent
	int terminal;
	struct stop stop;
};

static void send_message(const struct init *init, int kind, int value)
{
	struct message message = { .kind = kind, .value = value };

	call(__NR_write, init->control, &message, sizeof(message), 0);
}

static void block_all_signals(void)
{
	unsigned long all = ~0UL;

	call(__NR_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
}

// Resets signals as a shell does: none blocked, and only those ignored that claudebox was started
// with ignored.
static void reset_signals(unsigned long ignored)
{
	unsigned long none = 0;

	for (int number = 1; number <= SIGNAL_COUNT; number++) {
		struct {
			void *handler;
			unsigned long flags, restorer, mask;
		} action = { .handler = ignored >> (number - 1) & 1 ? (void *)1 : (void *)0 };

		call(__NR_rt_sigaction, number, &action, NULL, sizeof(none));
	}
	call(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

static void close_descriptors(int first, int last)
{
	if (call(__NR_close_range, first, last, 0, 0) == 0)
		return;
	// A container's seccomp filter may not allow close_range. bwrap was given low numbers only.
	for (int fd = first; fd <= last && fd < MAX_DESCRIPTORS; fd++)
		call(__NR_close, fd, 0, 0, 0);
}

static void set_foreground(const struct init *init, long group)
{
	int id = (int)group;

	if (init->terminal >= 0)
		call(__NR_ioctl, init->terminal, TIOCSPGRP, &id, 0);
}

// Returns the value of an environment variable, or NULL.
static const char *find_variable(char **environment, const char *name)
{
	size_t length = text_length(name);

	for (; *environment; environment++)
		if (text_starts(*environment, name) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

// Executes a command, searching PATH as execvp does. Returns -errno: that of the last candidate
// that exists, or -ENOENT.
static long execute(char **command, char **environment)
{
	static char path[4096];
	const char *list = find_variable(environment, "PATH");
	size_t name_length = text_length(command[0]);
	long error = -ENOENT;

	if (text_find(command[0], name_length, "/") || !list)
		return call(__NR_execve, command[0], command, environment, 0);
	while (*list) {
		size_t length = 0;
		long result;

		while (list[length] && list[length] != ':')
			length++;
		if (length && length + name_length + 2 < sizeof(path)) {
			memcpy(path, list, length);
			path[length] = '/';
			memcpy(path + length + 1, command[0], name_length + 1);
			result = call(__NR_execve, path, command, environment, 0);
			if (result != -ENOENT)
				error = result;
		}
		list += length + (list[length] == ':');
	}
	return error;
}

static __attribute__((noreturn)) void run_agent(struct init *init, char **command,
						char **environment, unsigned long ignored,
						bool foreground)
{
	long error;

	call(__NR_setpgid, 0, 0, 0, 0);
	if (foreground)
		set_foreground(init, call(__NR_getpid, 0, 0, 0, 0));
	send_message(init, MESSAGE_STARTED, 0);
	reset_signals(ignored);
	error = execute(command, environment);
	send_message(init, MESSAGE_FAILED, (int)-error);
	exit_program(EXIT_NO_COMMAND);
}

// Continues the box, or if it was not stopped, only the agent.
static void resume(struct init *init, bool foreground)
{
	if (foreground)
		set_foreground(init, init->agent);
	if (init->stop.active)
		stop_end(&init->stop);
	else
		call(__NR_kill, -init->agent, SIGCONT, 0, 0);
}

// Reaps every child that has exited. Returns whether any child is left.
static bool reap_children(void)
{
	long pid;

	while ((pid = call(__NR_wait4, -1, NULL, WNOHANG, NULL)) > 0)
		;
	return pid == 0;
}

// Sends SIGTERM to background processes and waits until they have exited or the timeout is over.
// Most boxes have none.
static void end_background_processes(const struct init *init)
{
	long end = clock_ms() + END_TIMEOUT_MS;

	if (!reap_children())
		return;
	call(__NR_kill, -1, SIGTERM, 0, 0);
	call(__NR_kill, -1, SIGCONT, 0, 0);
	do {
		struct pollfd wait = { .fd = init->signals, .events = POLLIN };
		struct __kernel_timespec pause = { .tv_nsec = END_POLL_MS * 1000000L };
		struct signalfd_siginfo info;

		call6(__NR_ppoll, (long)&wait, 1, (long)&pause, 0, 0, 0);
		if (wait.revents)
			call(__NR_read, init->signals, &info, sizeof(info), 0);
	} while (reap_children() && clock_ms() < end);
}

// Reports the agent's exit status as a shell shows it, and exits with it.
static void finish(const struct init *init, int status)
{
	int signal = status & 0x7f;
	int code = signal ? EXIT_SIGNAL_BASE + signal : status >> 8 & 0xff;

	end_background_processes(init);
	send_message(init, MESSAGE_ENDED, code);
	exit_program(code);
}

// Reaps all children that have exited or stopped, and reports the agent's state to the supervisor.
static void reap(const struct init *init)
{
	for (;;) {
		int status = 0;
		long pid = call(__NR_wait4, -1, &status, WNOHANG | WUNTRACED, NULL);

		if (pid <= 0)
			return;
		if (pid != init->agent)
			continue;
		if ((status & 0xff) != 0x7f)
			finish(init, status);
		else if (!init->stop.active)
			send_message(init, MESSAGE_STOPPED, status >> 8 & 0xff);
	}
}

static void receive_message(struct init *init)
{
	struct message message = { 0 };
	long got = call(__NR_read, init->control, &message, sizeof(message), 0);

	if (got == -EINTR)
		return;
	if (got != sizeof(message)) // the supervisor has exited
		exit_program(EXIT_NO_COMMAND);
	if (message.kind == MESSAGE_SIGNAL)
		call(__NR_kill, init->agent, message.value, 0, 0);
	else if (message.kind == MESSAGE_STOP)
		send_message(init, MESSAGE_ALL_STOPPED, stop_all(&init->stop, init->agent));
	else if (message.kind == MESSAGE_RESUME)
		resume(init, message.value != 0);
}

// Applies the restrictions that only a process can apply to itself. If one fails, reports it and
// exits, so that the agent never starts.
static void restrict_box(const struct init *init, char landlock)
{
	long error = lower_limits();

	if (!error && (landlock == INIT_FLAG_SCOPED || landlock == INIT_FLAG_SOCKETS))
		error = apply_landlock(landlock == INIT_FLAG_SOCKETS);
	if (error < 0) {
		send_message(init, MESSAGE_RESTRICTION_FAILED, (int)-error);
		exit_program(EXIT_NO_COMMAND);
	}
}

// Reports that init is ready, and waits for MESSAGE_START: the supervisor may still prepare mounts
// and the network. Exits if the supervisor exits first.
static void wait_for_start(const struct init *init)
{
	struct message message = { 0 };
	long got;

	send_message(init, MESSAGE_READY, 0);
	do {
		got = call(__NR_read, init->control, &message, sizeof(message), 0);
		if (got != sizeof(message) && got != -EINTR)
			exit_program(EXIT_NO_COMMAND);
	} while (got != sizeof(message) || message.kind != MESSAGE_START);
}

// Returns the agent's environment, a NULL-terminated array.
static char **read_environment(void)
{
	static char *entries[MAX_VARIABLES];
	char *text;
	size_t count = 0;
	long size = call(__NR_lseek, INIT_ENVIRONMENT_FD, 0, SEEK_END, 0);

	if (size <= 0)
		return entries;
	text = map_memory(size, MAP_PRIVATE, INIT_ENVIRONMENT_FD);
	if (!text)
		exit_program(EXIT_NO_COMMAND);
	for (char *s = text; s < text + size && count + 1 < MAX_VARIABLES;) {
		entries[count++] = s;
		s += text_length(s) + 1;
	}
	return entries;
}

// Starts a new session and makes the box's own terminal its controlling terminal. The user's
// terminal is unreachable afterwards.
static void open_own_session(void)
{
	if (call(__NR_setsid, 0, 0, 0, 0) < 0)
		exit_program(EXIT_NO_COMMAND);
	for (int fd = 0; fd <= 2; fd++)
		if (call(__NR_ioctl, fd, TIOCSCTTY, 0, 0) == 0)
			return;
}

// Handles signals and messages until the agent or the supervisor exits.
static __attribute__((noreturn)) void run_loop(struct init *init)
{
	struct __kernel_timespec interval = { .tv_nsec = STOP_CHECK_MS * 1000000L };

	for (;;) {
		struct pollfd wait[] = { { .fd = init->signals, .events = POLLIN },
					 { .fd = init->control, .events = POLLIN } };
		struct signalfd_siginfo info;
		struct __kernel_timespec timeout = interval; // ppoll(2) changes it
		long ready = call6(__NR_ppoll, (long)wait, 2,
				   init->stop.active ? (long)&timeout : 0, 0, 0, 0);

		if (!ready)
			stop_check(&init->stop);
		if (wait[0].revents) {
			call(__NR_read, init->signals, &info, sizeof(info), 0);
			reap(init);
		}
		if (wait[1].revents)
			receive_message(init);
	}
}

// The command line is described in init/protocol.h.
__attribute__((used)) void program_main(long *stack)
{
	char **arguments = (char **)(stack + 1);
	static struct init init = { .control = INIT_CONTROL_FD, .terminal = -1 };
	unsigned long all = ~0UL;
	unsigned long ignored;
	bool foreground;
	char **environment;

	if (stack[0] < 3 || !arguments[1][0] || !arguments[1][1] || !arguments[1][2])
		exit_program(EXIT_NO_COMMAND);
	foreground = arguments[1][0] == INIT_FLAG_FOREGROUND;
	ignored = (unsigned long)text_number(arguments[1] + 3);
	block_all_signals();
	call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0); // init exits with bwrap
	// No process in the box may trace or read init: it has the control socket.
	call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0);
	call(__NR_prctl, PR_SET_NAME, "claudebox-init", 0, 0);
	environment = read_environment();
	close_descriptors(INIT_ENVIRONMENT_FD, 0x7fffffff);
	call(__NR_fcntl, INIT_CONTROL_FD, F_SETFD, FD_CLOEXEC, 0);
	if (arguments[1][2] == INIT_FLAG_OWN_TERMINAL)
		open_own_session();
	init.terminal =
		(int)call(__NR_openat, AT_FDCWD, "/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
	init.signals = (int)call(__NR_signalfd4, -1, &all, sizeof(all), SFD_CLOEXEC);
	restrict_box(&init, arguments[1][1]);
	wait_for_start(&init);
	init.agent = fork_process(0);
	if (init.agent == 0)
		run_agent(&init, arguments + 2, environment, ignored, foreground);
	if (init.agent < 0)
		exit_program(EXIT_NO_COMMAND);
	close_descriptors(0, 2);
	run_loop(&init);
}
