// SPDX-License-Identifier: MIT
// Runs the git program on the snapshots of a project.
//
// Theory of operation: git gets a fixed environment and a git directory whose configuration has no
// program in it, so it executes nothing of the project: no filter, no hook, no textconv, no
// fsmonitor. It leads a process group of its own, so that Ctrl+C on the terminal does not interrupt
// it. It keeps the lock of the snapshots: if claudebox is killed, the next command waits until git
// has ended, and does not take its files for leftovers.
#include "snapshot/store.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	OUTPUT_LIMIT = 256 * 1024 * 1024,
	FIRST_SIZE = 64 * 1024,
	MESSAGE_SIZE = 1024,
	GRACE_MS = 3000, // after the end of the input
	EXIT_MS = 60000,
	MOST_ARGUMENTS = 32,
};

// A run: the process, and the ends of claudebox.
struct git_process {
	struct git_run *run;
	struct arena *arena;
	bool started;
	pid_t pid;
	int input;
	int output;
	int messages;
	char message[MESSAGE_SIZE];
	size_t message_length;
	size_t sent;
	size_t capacity;
};

static bool make_pair(int type, int *ret_own, int *ret_other)
{
	int fds[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0)
		return false;
	*ret_own = fds[0];
	*ret_other = fds[1];
	return true;
}

static bool start(const struct store *store, struct arena *arena, const struct git_run *run,
		  struct git_process *process)
{
	const char *worktree = run->worktree ? run->worktree : store->project;
	const char *environment[] = {
		"PATH=/usr/bin:/bin",
		"HOME=/nonexistent",
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1",
		// A partial clone would fetch a missing object, by a program that its settings
		// name.
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		arena_printf(arena, "GIT_DIR=%s",
			     run->git_directory ? run->git_directory : store->path),
		arena_printf(arena, "GIT_WORK_TREE=%s", worktree),
		run->index ? arena_printf(arena, "GIT_INDEX_FILE=%s", run->index) : NULL,
		NULL,
	};
	const char *arguments[MOST_ARGUMENTS + 4] = { "git", "-C", worktree };
	CLEANUP_FD int input = -1, output = -1, messages = -1;
	sigset_t none;
	struct spawn spawn = { .program = store->git,
			       .arguments = arguments,
			       .environment = environment,
			       .own_group = true,
			       .blocked = &none };

	for (size_t i = 0; run->arguments[i] && i < MOST_ARGUMENTS; i++)
		arguments[3 + i] = run->arguments[i];
	sigemptyset(&none);
	if (!make_pair(SOCK_STREAM, &process->input, &input) ||
	    !make_pair(SOCK_STREAM, &process->output, &output) ||
	    !make_pair(SOCK_STREAM, &process->messages, &messages))
		return false;
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ input, STDIN_FILENO });
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ output, STDOUT_FILENO });
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ messages, STDERR_FILENO });
	if (store->lock >= 0)
		vec_push(arena, &spawn.descriptors,
			 (struct spawn_descriptor){ store->lock, STDERR_FILENO + 1 });
	return spawn_process(&spawn, &process->pid);
}

// Sends a part of the input, and ends it after the last.
static void send_input(struct git_run *run, struct git_process *process)
{
	bool late = run->input_until_ms && clock_monotonic_ms() >= run->input_until_ms;
	ssize_t sent = 0;

	if (!late && process->sent < run->input_length) {
		sent = send(process->input, run->input + process->sent,
			    run->input_length - process->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	process->sent += sent > 0 ? (size_t)sent : 0;
	if (late || sent < 0 || process->sent >= run->input_length) {
		run->cut |= process->sent < run->input_length;
		cleanup_close(&process->input);
		process->input = -1;
	}
}

// Receives a part of the output. Returns false at its end.
static bool receive_output(struct git_run *run, struct git_process *process)
{
	size_t limit = run->output_limit ? run->output_limit : OUTPUT_LIMIT;
	ssize_t length;

	if (run->output_length + 1 >= process->capacity) {
		size_t wanted = process->capacity ? process->capacity * 2 : FIRST_SIZE;
		char *larger = wanted / 2 > limit ? NULL : realloc(run->output, wanted);

		if (!larger)
			return false;
		run->output = larger;
		process->capacity = wanted;
	}
	length = recv(process->output, run->output + run->output_length,
		      process->capacity - run->output_length - 1, 0);
	if (length < 0 && errno == EINTR)
		return true;
	run->output_length += length > 0 ? (size_t)length : 0;
	run->output[run->output_length] = '\0';
	return length > 0;
}

static bool receive_message(struct git_process *process)
{
	char rest[MESSAGE_SIZE];
	size_t room = sizeof(process->message) - 1 - process->message_length;
	ssize_t length =
		room ? recv(process->messages, process->message + process->message_length, room, 0)
		     : recv(process->messages, rest, sizeof(rest), 0);

	if (length < 0 && errno == EINTR)
		return true;
	process->message_length += length > 0 && room ? (size_t)length : 0;
	return length > 0;
}

// Exchanges data until the output has ended. Returns false if the program takes too long.
static bool exchange(struct git_run *run, struct git_process *process)
{
	while (process->output >= 0 || process->messages >= 0) {
		struct pollfd waits[] = { { .fd = process->input, .events = POLLOUT },
					  { .fd = process->output, .events = POLLIN },
					  { .fd = process->messages, .events = POLLIN } };
		int64_t now = clock_monotonic_ms();
		int64_t until = !run->input_until_ms  ? now + EXIT_MS
				: process->input >= 0 ? run->input_until_ms
						      : run->input_until_ms + GRACE_MS;
		int ready = poll(waits, ARRAY_SIZE(waits), until > now ? (int)(until - now) : 0);

		if (ready < 0 && errno != EINTR)
			return false;
		if (ready == 0 && process->input < 0)
			return false;
		if (process->input >= 0 && (waits[0].revents || ready == 0))
			send_input(run, process);
		if (waits[1].revents && !receive_output(run, process)) {
			cleanup_close(&process->output);
			process->output = -1;
		}
		if (waits[2].revents && !receive_message(process)) {
			cleanup_close(&process->messages);
			process->messages = -1;
		}
	}
	return true;
}

// Returns the line that says why git ended, or the first one.
static const char *find_message(struct arena *arena, const char *messages)
{
	const char *fatal = strstr(messages, "fatal: ");

	if (fatal)
		messages = fatal + sizeof("fatal: ") - 1;
	return arena_strndup(arena, messages, strcspn(messages, "\n"));
}

struct git_process *git_begin(const struct store *store, struct arena *arena, struct git_run *run)
{
	struct git_process *process = arena_alloc(arena, sizeof(*process));

	*process = (struct git_process){
		.run = run, .arena = arena, .pid = -1, .input = -1, .output = -1, .messages = -1
	};
	process->started = start(store, arena, run, process);
	if (!process->started)
		run->message = strerror(errno);
	if (process->started && !run->input_length) {
		cleanup_close(&process->input);
		process->input = -1;
	}
	return process;
}

bool git_end(struct git_process *process)
{
	struct git_run *run = process->run;
	bool ok = process->started && exchange(run, process);
	int status = -1;
	char *copy;

	if (process->pid > 0)
		status = ok ? process_wait_or_kill(process->pid, EXIT_MS)
			    : process_kill(process->pid);
	cleanup_close(&process->input);
	cleanup_close(&process->output);
	cleanup_close(&process->messages);
	copy = arena_alloc(process->arena, run->output_length + 1);
	if (run->output_length)
		memcpy(copy, run->output, run->output_length);
	free(run->output);
	run->output = copy;
	if (process->message_length)
		run->message = find_message(process->arena, process->message);
	return ok && process_exit_status(status) == 0;
}

bool git_run(const struct store *store, struct arena *arena, struct git_run *run)
{
	return git_end(git_begin(store, arena, run));
}

bool git_fail(const struct git_run *run, const char *operation, struct error *error)
{
	return error_set(error, "cannot %s: %s", operation,
			 run->message ? quote_display(error->arena, run->message, 200)
				      : "git did not end in time");
}
