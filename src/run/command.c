// SPDX-License-Identifier: MIT
// Runs a small helper program and reads what it says, within bounds.
#include "run/run.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { LIMIT_MS = 10000, LAST_MS = 2000, LIMIT_BYTES = 64 * 1024 };

static int milliseconds_left(const struct timespec *start)
{
	struct timespec now;
	long passed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed = (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
	return passed < LIMIT_MS ? (int)(LIMIT_MS - passed) : 0;
}

static void read_output(int fd, struct text *output)
{
	struct timespec start;
	char buffer[4096];

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (output->length < LIMIT_BYTES) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, milliseconds_left(&start)) <= 0)
			return;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		text_add_bytes(output, buffer, (size_t)got);
	}
}

// It has closed its output and is about to end, or it hangs.
static void end_process(pid_t pid, int *ret_status)
{
	CLEANUP_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd wait = { .fd = process, .events = POLLIN };

	if (process < 0 || poll(&wait, 1, LAST_MS) <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
}

int run_capture(struct arena *arena, const char *program, const char *const *arguments,
		const char **ret_output)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C",
						   NULL };
	struct text output = { .arena = arena };
	posix_spawn_file_actions_t actions;
	CLEANUP_FD int from = -1;
	int pipe_fds[2];
	int status = 0;
	pid_t pid;
	int failure;

	*ret_output = "";
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -1;
	from = pipe_fds[0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 2);
	failure = posix_spawn(&pid, program, &actions, NULL, (char *const *)arguments,
			      (char *const *)environment);
	posix_spawn_file_actions_destroy(&actions);
	close(pipe_fds[1]);
	if (failure)
		return -1;
	read_output(from, &output);
	end_process(pid, &status);
	*ret_output = text_get(&output);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
