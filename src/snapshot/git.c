// SPDX-License-Identifier: MIT
// Runs the git program on the snapshots of a project.
//
// Theory of operation: git gets a fixed environment and a git directory whose configuration has no
// program in it, so it executes nothing of the project: no filter, no hook, no textconv, no
// fsmonitor. It leads a process group of its own, so that Ctrl+C on the terminal does not interrupt
// it.
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

// The ends of claudebox, and a process.
struct ends {
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
		  struct ends *ends)
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
	if (!make_pair(SOCK_STREAM, &ends->input, &input) ||
	    !make_pair(SOCK_STREAM, &ends->output, &output) ||
	    !make_pair(SOCK_STREAM, &ends->messages, &messages))
		return false;
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ input, STDIN_FILENO });
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ output, STDOUT_FILENO });
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ messages, STDERR_FILENO });
	return spawn_process(&spawn, &ends->pid);
}

// Sends a part of the input, and ends it after the last.
static void send_input(struct git_run *run, struct ends *ends)
{
	bool late = run->input_until_ms && clock_monotonic_ms() >= run->input_until_ms;
	ssize_t sent = 0;

	if (!late && ends->sent < run->input_length) {
		sent = send(ends->input, run->input + ends->sent, run->input_length - ends->sent,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	ends->sent += sent > 0 ? (size_t)sent : 0;
	if (late || sent < 0 || ends->sent >= run->input_length) {
		run->cut |= ends->sent < run->input_length;
		cleanup_close(&ends->input);
		ends->input = -1;
	}
}

// Receives a part of the output. Returns false at its end.
static bool receive_output(struct git_run *run, struct ends *ends)
{
	size_t limit = run->output_limit ? run->output_limit : OUTPUT_LIMIT;
	ssize_t length;

	if (run->output_length + 1 >= ends->capacity) {
		size_t wanted = ends->capacity ? ends->capacity * 2 : FIRST_SIZE;
		char *larger = wanted / 2 > limit ? NULL : realloc(run->output, wanted);

		if (!larger)
			return false;
		run->output = larger;
		ends->capacity = wanted;
	}
	length = recv(ends->output, run->output + run->output_length,
		      ends->capacity - run->output_length - 1, 0);
	if (length < 0 && errno == EINTR)
		return true;
	run->output_length += length > 0 ? (size_t)length : 0;
	run->output[run->output_length] = '\0';
	return length > 0;
}

static bool receive_message(struct ends *ends)
{
	char rest[MESSAGE_SIZE];
	size_t room = sizeof(ends->message) - 1 - ends->message_length;
	ssize_t length = room ? recv(ends->messages, ends->message + ends->message_length, room, 0)
			      : recv(ends->messages, rest, sizeof(rest), 0);

	if (length < 0 && errno == EINTR)
		return true;
	ends->message_length += length > 0 && room ? (size_t)length : 0;
	return length > 0;
}

// Exchanges data until the output has ended. Returns false if the program takes too long.
static bool exchange(struct git_run *run, struct ends *ends)
{
	while (ends->output >= 0 || ends->messages >= 0) {
		struct pollfd waits[] = { { .fd = ends->input, .events = POLLOUT },
					  { .fd = ends->output, .events = POLLIN },
					  { .fd = ends->messages, .events = POLLIN } };
		int64_t now = clock_monotonic_ms();
		int64_t until = !run->input_until_ms ? now + EXIT_MS
				: ends->input >= 0   ? run->input_until_ms
						     : run->input_until_ms + GRACE_MS;
		int ready = poll(waits, ARRAY_SIZE(waits), until > now ? (int)(until - now) : 0);

		if (ready < 0 && errno != EINTR)
			return false;
		if (ready == 0 && ends->input < 0)
			return false;
		if (ends->input >= 0 && (waits[0].revents || ready == 0))
			send_input(run, ends);
		if (waits[1].revents && !receive_output(run, ends)) {
			cleanup_close(&ends->output);
			ends->output = -1;
		}
		if (waits[2].revents && !receive_message(ends)) {
			cleanup_close(&ends->messages);
			ends->messages = -1;
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

bool git_run(const struct store *store, struct arena *arena, struct git_run *run)
{
	struct ends ends = { .pid = -1, .input = -1, .output = -1, .messages = -1 };
	bool ok = start(store, arena, run, &ends);
	int status = -1;
	char *copy;

	if (!ok)
		run->message = strerror(errno);
	if (ok && !run->input_length) {
		cleanup_close(&ends.input);
		ends.input = -1;
	}
	ok = ok && exchange(run, &ends);
	if (ends.pid > 0)
		status = ok ? process_wait_or_kill(ends.pid, EXIT_MS) : process_kill(ends.pid);
	cleanup_close(&ends.input);
	cleanup_close(&ends.output);
	cleanup_close(&ends.messages);
	copy = arena_alloc(arena, run->output_length + 1);
	if (run->output_length)
		memcpy(copy, run->output, run->output_length);
	free(run->output);
	run->output = copy;
	if (ends.message_length)
		run->message = find_message(arena, ends.message);
	return ok && process_exit_status(status) == 0;
}

bool git_fail(const struct git_run *run, const char *operation, struct error *error)
{
	return error_set(error, "cannot %s: %s", operation,
			 run->message ? quote_display(error->arena, run->message, 200)
				      : "git did not end in time");
}
