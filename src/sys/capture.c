// SPDX-License-Identifier: MIT
// Runs a helper program and captures its output, with limits on time and size.
#include "sys/capture.h"

#include "base/arena.h"
#include "sys/cleanup.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/spawn.h"

#include <fcntl.h>

enum { OUTPUT_TIMEOUT_MS = 10000, EXIT_TIMEOUT_MS = 2000, OUTPUT_LIMIT = 64 * 1024 };

int capture_output(struct arena *arena, const char *program, const char *const *arguments,
		   const char **ret_output)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C",
						   NULL };
	struct spawn spawn = { .program = program,
			       .arguments = arguments,
			       .environment = environment };
	CLEANUP_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CLEANUP_FD int reader = -1;
	int pipe_fds[2];
	bool complete;
	bool started;
	char *output;
	pid_t pid;

	*ret_output = "";
	if (null < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -1;
	reader = pipe_fds[0];
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ null, STDIN_FILENO });
	vec_push(arena, &spawn.descriptors,
		 (struct spawn_descriptor){ pipe_fds[1], STDOUT_FILENO });
	vec_push(arena, &spawn.descriptors,
		 (struct spawn_descriptor){ pipe_fds[1], STDERR_FILENO });
	started = spawn_process(&spawn, &pid);
	close(pipe_fds[1]);
	if (!started)
		return -1;
	output = arena_alloc(arena, OUTPUT_LIMIT + 1);
	read_until_end(reader, output, OUTPUT_LIMIT, OUTPUT_TIMEOUT_MS, &complete);
	*ret_output = output;
	// The program has closed its output and is about to exit, or it hangs.
	return process_exit_status(process_wait_or_kill(pid, EXIT_TIMEOUT_MS));
}
