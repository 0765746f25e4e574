// SPDX-License-Identifier: MIT
// A process that kills the box when claudebox is killed, also if the agent starves process 1.
//
// Theory of operation: if claudebox is killed, init reads the end of file on the control socket
// and exits, and the kernel kills the other processes when init does. An agent can keep init from
// running: it can lower the priority of the session that it shares with init
// (/proc/self/autogroup) and start processes in other sessions. The killer is a child of claudebox
// in a session of its own, outside the box. It waits for the end of claudebox and then kills every
// process of the box itself, by cgroup.kill or one by one.
#include "box/killer.h"

#include "base/text.h"
#include "box/box.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
	KILL_ROUNDS = 500, // with a pause of PAUSE_MS: 10 s
	PAUSE_MS = 20,
	CHANNEL_FD = 0, // numbers of descriptors in the killer
	CGROUP_FD = 1,
	NAME_MAX_SIZE = 64,
};

// Reads the name of a process's PID namespace. Returns false if the process has ended.
static bool read_namespace(long pid, char name[NAME_MAX_SIZE])
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%ld/ns/pid", pid);
	length = readlink(path, name, NAME_MAX_SIZE - 1);
	name[length > 0 ? length : 0] = '\0';
	return length > 0;
}

// Kills every process in the PID namespace once.
static void kill_namespace(const char *namespace)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, "/proc");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		char name[NAME_MAX_SIZE];

		if (pid > 1 && read_namespace(pid, name) && str_equal(name, namespace))
			kill((pid_t)pid, SIGKILL);
	}
}

// Closes all descriptors but those of the killer.
static void close_others(int channel, int cgroup)
{
	dup2(channel, CHANNEL_FD);
	if (cgroup < 0 || dup2(cgroup, CGROUP_FD) < 0)
		close(CGROUP_FD);
	if (close_range(CGROUP_FD + 1, ~0U, 0) < 0)
		for (int fd = CGROUP_FD + 1; fd < 1024; fd++)
			close(fd);
}

static _Noreturn void run(int channel, int cgroup, pid_t bwrap)
{
	char own[NAME_MAX_SIZE];
	char namespace[NAME_MAX_SIZE] = "";
	int init_end = -1;
	sigset_t all;
	pid_t init;
	ssize_t got;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "claudebox-kill");
	setsid();
	close_others(channel, cgroup);
	read_namespace(getpid(), own);
	while ((got = read(CHANNEL_FD, &init, sizeof(init))) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		// A short command may have ended already.
		if (got == sizeof(init) && read_namespace(init, namespace))
			init_end = process_open(init);
	}
	write_kernel_file(CGROUP_FD, "cgroup.kill", "1"); // Linux 5.14 and later
	kill(-bwrap, SIGKILL);
	// When init has ended, the kernel has ended all other processes of the namespace.
	for (int i = 0; i < KILL_ROUNDS && init_end >= 0 && !str_equal(namespace, own); i++) {
		if (wait_readable(init_end, i ? PAUSE_MS : 0))
			break;
		kill_namespace(namespace);
	}
	_exit(0);
}

void killer_start(struct box *box)
{
	int channel[2];

	if (pipe2(channel, O_CLOEXEC) < 0)
		return;
	box->killer = fork();
	if (box->killer == 0) {
		close(channel[1]);
		run(channel[0], box->cgroup.outer, box->bwrap);
	}
	close(channel[0]);
	box->killer_fd = channel[1];
}

void killer_set_init(const struct box *box, pid_t init)
{
	if (box->killer > 0 && write(box->killer_fd, &init, sizeof(init)) < 0)
		return; // the killer was killed
}

void killer_dismiss(const struct box *box)
{
	if (box->killer > 0)
		kill(box->killer, SIGKILL);
}

void killer_end(struct box *box)
{
	if (box->killer > 0)
		process_kill(box->killer);
	cleanup_close(&box->killer_fd);
	box->killer = 0;
	box->killer_fd = -1;
}
