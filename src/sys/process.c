// SPDX-License-Identifier: MIT
// Waits for processes, kills them, and opens their namespaces.
#include "sys/process.h"

#include "base/error.h"
#include "sys/cleanup.h"
#include "sys/read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
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

	if (process < 0 || !wait_readable(process, timeout_ms))
		return process_kill(pid);
	return process_wait(pid);
}

int process_exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void process_end_with_parent(pid_t parent, int signal_number)
{
	prctl(PR_SET_PDEATHSIG, signal_number);
	// The parent may have ended before prctl(2).
	if (getppid() != parent)
		_exit(EXIT_NOT_STARTED);
}

int process_open_namespace(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}
