// SPDX-License-Identifier: MIT
// Child processes: waiting for their end, and ending them.
#include "sys/process.h"

#include "sys/cleanup.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

int process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	return process_wait(pid);
}

int process_wait_or_kill(pid_t pid, int timeout_ms)
{
	CLEANUP_FD int process = process_open(pid);
	struct pollfd wait = { .fd = process, .events = POLLIN };

	if (process < 0 || poll(&wait, 1, timeout_ms) <= 0)
		return process_kill(pid);
	return process_wait(pid);
}

int process_exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
