// SPDX-License-Identifier: MIT
// Runs a small helper program and reads what it says, within bounds.
#include "sys/capture.h"

#include "base/arena.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>

enum { LIMIT_MS = 10000, LAST_MS = 2000, LIMIT_BYTES = 64 * 1024 };

static void read_output(int fd, struct text *output)
{
	int64_t start = clock_monotonic_ms();
	char buffer[4096];

	while (output->length < LIMIT_BYTES) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, clock_left_ms(start, LIMIT_MS)) <= 0)
			return;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		text_add_bytes(output, buffer, (size_t)got);
	}
}

int capture_output(struct arena *arena, const char *program, const char *const *arguments,
		   const char **ret_output)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C",
						   NULL };
	struct text output = { .arena = arena };
	posix_spawn_file_actions_t actions;
	CLEANUP_FD int from = -1;
	int pipe_fds[2];
	int status;
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
	// It has closed its output and is about to end, or it hangs.
	status = process_wait_or_kill(pid, LAST_MS);
	*ret_output = text_get(&output);
	return process_exit_status(status);
}
