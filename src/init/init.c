// SPDX-License-Identifier: MIT
// Process 1 of the box: starts the agent, passes signals on, reaps orphans, and ends when the agent or the supervisor does.
//
// Theory of operation: the agent gets a process group of its own, so that Ctrl+C and Ctrl+Z reach it and nothing
// else, and so that kill(0, …) inside cannot touch a process outside. All signals are blocked here and taken from
// a signalfd; what the agent shall receive comes from the supervisor by the control socket, never from a stray
// kill. When this process ends, the kernel ends every process of the box.
#define SYSTEM_ENTRY "init_main"
#include "init/protocol.h"
#include "freestanding/system.h"

#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/signalfd.h>
#include <linux/time_types.h>
#include <linux/wait.h>
#include <stdbool.h>

enum {
	SIGNAL_COUNT = 64,
	EXIT_NO_COMMAND = 125,
	LAST_MS = 500,
	MOST_DESCRIPTORS = 65536,
	ENOENT_ = 2,
	EINTR_ = 4
};

struct init {
	int control;
	int signals;
	long agent; // process id, and process group, of the agent
	int terminal;
};

static __attribute__((noreturn)) void leave(int status)
{
	for (;;)
		call(__NR_exit_group, status, 0, 0, 0);
}

static void say(const struct init *init, int kind, int value)
{
	struct message message = { .kind = kind, .value = value };

	call(__NR_write, init->control, &message, sizeof(message), 0);
}

static void block_all_signals(void)
{
	unsigned long all = ~0UL;

	call(__NR_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
}

// An agent starts as if from a shell: nothing blocked, nothing ignored but what was ignored for claudebox.
static void default_signals(unsigned long ignored)
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

// A container's filter may know no close_range; bwrap was given low numbers only.
static void close_all(int first, int last)
{
	if (call(__NR_close_range, first, last, 0, 0) == 0)
		return;
	for (int fd = first; fd <= last && fd < MOST_DESCRIPTORS; fd++)
		call(__NR_close, fd, 0, 0, 0);
}

static void give_terminal(const struct init *init, long group)
{
	int id = (int)group;

	if (init->terminal >= 0)
		call(__NR_ioctl, init->terminal, TIOCSPGRP, &id, 0);
}

static size_t length_of(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

static const char *variable(char **environment, const char *name)
{
	size_t length = length_of(name);

	for (; *environment; environment++) {
		size_t i = 0;

		while (i < length && (*environment)[i] == name[i])
			i++;
		if (i == length && (*environment)[i] == '=')
			return *environment + i + 1;
	}
	return NULL;
}

// Searches PATH as execvp does; returns the errno that says most about why nothing was found.
static long execute(char **command, char **environment)
{
	static char path[4096];
	const char *list = variable(environment, "PATH");
	long worst = -ENOENT_;
	bool has_slash = false;

	for (const char *s = command[0]; *s; s++)
		has_slash |= *s == '/';
	if (has_slash || !list)
		return call(__NR_execve, command[0], command, environment, 0);
	while (*list) {
		size_t length = 0;
		size_t name = length_of(command[0]);
		long result;

		while (list[length] && list[length] != ':')
			length++;
		if (length && length + name + 2 < sizeof(path)) {
			memcpy(path, list, length);
			path[length] = '/';
			memcpy(path + length + 1, command[0], name + 1);
			result = call(__NR_execve, path, command, environment, 0);
			if (result != -ENOENT_)
				worst = result;
		}
		list += length + (list[length] == ':');
	}
	return worst;
}

static __attribute__((noreturn)) void become_agent(struct init *init, char **command,
						   char **environment, unsigned long ignored,
						   bool foreground)
{
	long error;

	call(__NR_setpgid, 0, 0, 0, 0);
	if (foreground)
		give_terminal(init, call(__NR_getpid, 0, 0, 0, 0));
	say(init, MESSAGE_STARTED, 0);
	default_signals(ignored);
	error = execute(command, environment);
	say(init, MESSAGE_FAILED, (int)-error);
	leave(EXIT_NO_COMMAND);
}

static void continue_agent(const struct init *init, bool foreground)
{
	if (foreground)
		give_terminal(init, init->agent);
	call(__NR_kill, -init->agent, SIGCONT, 0, 0);
}

// Background processes get a moment to end by themselves; most boxes have none.
static void end_others(struct init *init)
{
	struct __kernel_timespec now = { 0 };
	struct __kernel_timespec end = { 0 };

	if (call(__NR_wait4, -1, NULL, WNOHANG, NULL) < 0)
		return;
	call(__NR_kill, -1, SIGTERM, 0, 0);
	call(__NR_kill, -1, SIGCONT, 0, 0);
	call(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, &end, 0, 0);
	end.tv_nsec += LAST_MS * 1000000L;
	do {
		struct pollfd wait = { .fd = init->signals, .events = POLLIN };
		struct __kernel_timespec pause = { .tv_nsec = 20000000 };
		struct signalfd_siginfo info;

		call6(__NR_ppoll, (long)&wait, 1, (long)&pause, 0, 0, 0);
		if (wait.revents)
			call(__NR_read, init->signals, &info, sizeof(info), 0);
		long reaped;
		while ((reaped = call(__NR_wait4, -1, NULL, WNOHANG, NULL)) > 0)
			;
		if (reaped < 0)
			return;
		call(__NR_clock_gettime, 1, &now, 0, 0);
	} while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
}

static void finish(struct init *init, int status)
{
	int code = (status & 0x7f) ? 128 + (status & 0x7f) : status >> 8 & 0xff;

	end_others(init);
	say(init, MESSAGE_ENDED, code);
	leave(code);
}

static void reap(struct init *init)
{
	for (;;) {
		int status = 0;
		long pid = call(__NR_wait4, -1, &status, WNOHANG | WUNTRACED, NULL);

		if (pid <= 0)
			return;
		if (pid != init->agent)
			continue;
		if ((status & 0xff) == 0x7f)
			say(init, MESSAGE_STOPPED, status >> 8 & 0xff);
		else
			finish(init, status);
	}
}

static void listen(struct init *init)
{
	struct message message = { 0 };
	long got = call(__NR_read, init->control, &message, sizeof(message), 0);

	if (got == -EINTR_)
		return;
	if (got != sizeof(message)) // the supervisor is gone
		leave(EXIT_NO_COMMAND);
	if (message.kind == MESSAGE_SIGNAL)
		call(__NR_kill, init->agent, message.value, 0, 0);
	else if (message.kind == MESSAGE_RESUME)
		continue_agent(init, message.value != 0);
}

// Landlock's scopes (Linux 6.12): abstract Unix sockets are files of no file system and belong to the network, which
// may be the host's; signals can go by other ways than a process number (F_SETOWN).
static long stay_inside(void)
{
	// As of ABI 6; the headers may be older.
	struct {
		unsigned long long files, network, scoped;
	} rules = { .scoped = 1 | 2 /* LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, …_SIGNAL */ };
	long fd = call(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0, 0);

	return fd < 0 ? fd : call(__NR_landlock_restrict_self, fd, 0, 0, 0);
}

// A protection that was promised and cannot be had: the agent never starts.
static void protect(const struct init *init, bool scoped)
{
	struct {
		unsigned long long now, most;
	} none = { 0 };
	// What a crash would write may hold what the agent was given, and the host decides where it goes.
	long error = call(__NR_prlimit64, 0, RLIMIT_CORE, &none, NULL);

	if (!error && scoped)
		error = stay_inside();
	if (error < 0) {
		say(init, MESSAGE_OPEN, (int)-error);
		leave(EXIT_NO_COMMAND);
	}
}

// Outside, the last preparations may still be under way. If the supervisor vanishes meanwhile, nothing ever starts.
static void await_start(const struct init *init)
{
	struct message message = { 0 };
	long got;

	say(init, MESSAGE_READY, 0);
	do {
		got = call(__NR_read, init->control, &message, sizeof(message), 0);
		if (got != sizeof(message) && got != -EINTR_)
			leave(EXIT_NO_COMMAND);
	} while (got != sizeof(message) || message.kind != MESSAGE_START);
}

static char **read_environment(void)
{
	static char *entries[4096];
	char *text;
	size_t count = 0;
	long size = call(__NR_lseek, INIT_ENVIRONMENT_FD, 0, 2 /* SEEK_END */, 0);

	if (size <= 0)
		return entries;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
	text = (char *)call6(__NR_mmap, 0, size, 1 | 2 /* PROT_READ | PROT_WRITE */,
			     2 /* MAP_PRIVATE */, INIT_ENVIRONMENT_FD, 0);
	if ((unsigned long)text > -4096UL)
		leave(EXIT_NO_COMMAND);
	for (char *s = text; s < text + size && count + 1 < sizeof(entries) / sizeof(*entries);) {
		entries[count++] = s;
		s += length_of(s) + 1;
	}
	return entries;
}

static unsigned long read_number(const char *text)
{
	unsigned long number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (unsigned long)(*text - '0');
	return number;
}

// The user's terminal is out of reach afterwards.
static void take_own_terminal(void)
{
	if (call(__NR_setsid, 0, 0, 0, 0) < 0)
		leave(EXIT_NO_COMMAND);
	for (int fd = 0; fd <= 2; fd++)
		if (call(__NR_ioctl, fd, TIOCSCTTY, 0, 0) == 0)
			return;
}

// argv: init, flags and the mask of ignored signals ("fs-4096", "---0"), command …
__attribute__((noreturn, used)) void init_main(long *stack)
{
	char **arguments = (char **)(stack + 1);
	struct init init = { .control = INIT_CONTROL_FD, .terminal = -1 };
	unsigned long all = ~0UL;
	unsigned long ignored;
	bool foreground;
	char **environment;

	if (stack[0] < 3 || !arguments[1][0] || !arguments[1][1] || !arguments[1][2])
		leave(EXIT_NO_COMMAND);
	foreground = arguments[1][0] == INIT_FLAG_FOREGROUND;
	ignored = read_number(arguments[1] + 3);
	block_all_signals();
	call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0); // the end of bwrap
	// Nobody in the box may look into this process: it holds the control socket.
	call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0);
	call(__NR_prctl, PR_SET_NAME, "claudebox-init", 0, 0);
	environment = read_environment();
	close_all(INIT_ENVIRONMENT_FD, 0x7fffffff);
	call(__NR_fcntl, INIT_CONTROL_FD, F_SETFD, FD_CLOEXEC, 0);
	if (arguments[1][2] == INIT_FLAG_OWN_TERMINAL)
		take_own_terminal();
	init.terminal =
		(int)call(__NR_openat, AT_FDCWD, "/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
	init.signals = (int)call(__NR_signalfd4, -1, &all, sizeof(all), SFD_CLOEXEC);
	protect(&init, arguments[1][1] == INIT_FLAG_SCOPED);
	await_start(&init);
	init.agent = call6(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
	if (init.agent == 0)
		become_agent(&init, arguments + 2, environment, ignored, foreground);
	if (init.agent < 0)
		leave(EXIT_NO_COMMAND);
	close_all(0, 2);
	for (;;) {
		struct pollfd wait[] = { { .fd = init.signals, .events = POLLIN },
					 { .fd = init.control, .events = POLLIN } };
		struct signalfd_siginfo info;

		call6(__NR_ppoll, (long)wait, 2, 0, 0, 0, 0);
		if (wait[0].revents) {
			call(__NR_read, init.signals, &info, sizeof(info), 0);
			reap(&init);
		}
		if (wait[1].revents)
			listen(&init);
	}
}
