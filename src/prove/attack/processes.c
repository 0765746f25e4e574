// SPDX-License-Identifier: MIT
// Attacks on processes of the host and on process 1.
#include "freestanding/syscall.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/socket.h>
#include <linux/uio.h>

enum { INIT = 1, UNIX = 1, DATAGRAM = 2, MAX_TARGETS = 2 };

// Lists process 1 and the planted process, if it has a pid here. Returns how many there are.
static size_t list_targets(int pids[MAX_TARGETS])
{
	size_t count = 0;

	pids[count++] = INIT;
	pids[count] = host_process();
	return count + (pids[count] != 0);
}

enum verdict try_PROCESSES_SEE(void)
{
	const struct canary *canary = next_canary(NULL, CANARY_PROCESS);
	char path[PATH_SIZE];
	struct tries tries = { 0 };
	long found;

	if (!canary)
		return skipped("no canary was planted");
	found = read_token(text_format(path, sizeof(path), "/proc/%s/cmdline", canary->field[0]));
	if (!failed(&tries, found) && found)
		return leaked("process %s is listed", canary->field[0]);
	return all_failed(&tries);
}

// Sends signal 0 first. If that succeeds, sends a signal that a running process ignores.
enum verdict try_PROCESSES_SIGNAL(void)
{
	int pid = host_process();
	struct tries tries = { 0 };

	if (!pid)
		return skipped("no process was planted");
	if (failed(&tries, call(__NR_kill, pid, 0, 0, 0)))
		return all_failed(&tries);
	call(__NR_kill, pid, SIGCONT, 0, 0);
	return leaked("process %d was signalled", pid);
}

enum verdict try_PROCESSES_SIGNAL_THREAD(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	siginfo_t info = { .si_signo = SIGCONT, .si_code = SI_QUEUE };

	if (!pid)
		return skipped("no process was planted");
	if (!failed(&tries, call(__NR_tkill, pid, SIGCONT, 0, 0)))
		return leaked("tkill of process %d succeeds", pid);
	if (!failed(&tries, call(__NR_tgkill, pid, pid, SIGCONT, 0)))
		return leaked("tgkill of process %d succeeds", pid);
	if (!failed(&tries, call(__NR_rt_sigqueueinfo, pid, SIGCONT, &info, 0)))
		return leaked("rt_sigqueueinfo to process %d succeeds", pid);
	return all_failed(&tries);
}

enum verdict try_PROCESSES_SIGNAL_PIDFD(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	char path[64];
	long files[2];

	if (!pid)
		return skipped("no process was planted");
	files[0] = call(__NR_pidfd_open, pid, 0, 0, 0);
	files[1] = open_file(text_format(path, sizeof(path), "/proc/%d", pid), O_RDONLY);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!failed(&tries, files[i]) &&
		    !failed(&tries, call(__NR_pidfd_send_signal, files[i], SIGCONT, NULL, 0)))
			return leaked("process %d was signalled", pid);
	return all_failed(&tries);
}

// SIGURG is ignored by default. The host checks whether it arrived outside; the attack checks
// whether it could.
enum verdict try_PROCESSES_SIGNAL_ALL(void)
{
	int pid = host_process();

	call(__NR_kill, -1, SIGURG, 0, 0);
	if (pid && call(__NR_kill, pid, 0, 0, 0) == 0)
		return leaked("kill(-1) reaches process %d", pid);
	return blocked("reaches processes of the box only");
}

// A process group whose leader is outside the PID namespace has the id 0.
enum verdict try_PROCESSES_SIGNAL_GROUP(void)
{
	int pid = host_process();
	long group = call(__NR_getpgid, 0, 0, 0, 0);

	call(__NR_kill, 0, SIGURG, 0, 0);
	if (group == 0)
		return leaked("the leader of the process group is outside the box");
	if (pid && call(__NR_getpgid, pid, 0, 0, 0) == group)
		return leaked("process %d is in the group", pid);
	return blocked("the process group is in the box");
}

enum verdict try_PROCESSES_SIGNAL_OWNER(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	int ends[2] = { 0 };

	if (!pid)
		return skipped("no process was planted");
	if (failed(&tries, call(__NR_pipe2, ends, O_CLOEXEC, 0, 0)) ||
	    failed(&tries, call(__NR_fcntl, ends[0], F_SETOWN, pid, 0)))
		return all_failed(&tries);
	return leaked("SIGIO would go to process %d", pid);
}

// Sends a message with forged credentials. Returns -errno on failure.
static long send_credentials(int pid, unsigned int user)
{
	struct {
		size_t size;
		int level, type;
		int pid;
		unsigned int user, group;
	} control = { .size = sizeof(control) - 4,
		      .level = 1 /* SOL_SOCKET */,
		      .type = 2 /* SCM_CREDENTIALS */,
		      .pid = pid,
		      .user = user,
		      .group = (unsigned int)call(__NR_getegid, 0, 0, 0, 0) };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct {
		void *name;
		int name_size;
		struct iovec *data;
		size_t data_count;
		void *control;
		size_t control_size;
		unsigned int flags;
	} message = {
		.data = &data, .data_count = 1, .control = &control, .control_size = control.size
	};
	int ends[2] = { 0 };
	long result = call(__NR_socketpair, UNIX, DATAGRAM, 0, ends);

	return result < 0 ? result : call(__NR_sendmsg, ends[0], &message, 0, 0);
}

enum verdict try_PROCESSES_CREDENTIALS(void)
{
	unsigned int user = (unsigned int)call(__NR_geteuid, 0, 0, 0, 0);
	struct tries tries = { 0 };

	if (!failed(&tries, send_credentials(INIT, user)))
		return leaked("a message with the pid of process 1 was sent");
	if (!failed(&tries, send_credentials((int)call(__NR_getpid, 0, 0, 0, 0), user ? 0 : 1)))
		return leaked("a message with the id of another user was sent");
	return all_failed(&tries);
}

static enum verdict trace_process(int pid)
{
	struct tries tries = { 0 };

	if (!pid)
		return skipped("no process was planted");
	if (!failed(&tries, call(__NR_ptrace, PTRACE_SEIZE, pid, 0, 0)))
		return leaked("process %d can be traced", pid); // the end of this process detaches
	return all_failed(&tries);
}

enum verdict try_PROCESSES_PTRACE(void)
{
	return trace_process(host_process());
}

enum verdict try_PROCESSES_PTRACE_INIT(void)
{
	return trace_process(INIT);
}

// Reads an address that is not mapped. EFAULT means that the access itself is allowed.
enum verdict try_PROCESSES_VM_READ(void)
{
	int pids[MAX_TARGETS];
	size_t count = list_targets(pids);
	struct tries tries = { 0 };

	for (size_t i = 0; i < count; i++) {
		char byte;
		struct iovec here = { .iov_base = &byte, .iov_len = 1 };
		struct iovec there = { .iov_base = (void *)16, .iov_len = 1 };
		long result =
			call6(__NR_process_vm_readv, pids[i], (long)&here, 1, (long)&there, 1, 0);

		if (!failed(&tries, result) || result == -EFAULT)
			return leaked("memory of process %d can be read", pids[i]);
	}
	return all_failed(&tries);
}

enum verdict try_PROCESSES_MEM_FILE(void)
{
	int pids[MAX_TARGETS];
	size_t count = list_targets(pids);
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < count; i++)
		if (!failed(&tries,
			    open_file(text_format(path, sizeof(path), "/proc/%d/mem", pids[i]),
				      O_RDWR)))
			return leaked("%s can be opened", path);
	return all_failed(&tries);
}

enum verdict try_PROCESSES_OOM(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	char path[64];

	if (!pid)
		return skipped("no process was planted");
	if (!failed(&tries,
		    open_file(text_format(path, sizeof(path), "/proc/%d/oom_score_adj", pid),
			      O_WRONLY)))
		return leaked("%s can be opened", path);
	return all_failed(&tries);
}

enum verdict try_PROCESSES_POINTERS(void)
{
	int pids[MAX_TARGETS];
	size_t count = list_targets(pids);
	struct tries tries = { 0 };

	for (size_t i = 0; i < count; i++) {
		void *list = NULL;
		size_t size = 0;

		if (!failed(&tries, call(__NR_get_robust_list, pids[i], &list, &size, 0)))
			return leaked("addresses of process %d can be read", pids[i]);
	}
	return all_failed(&tries);
}

// Sets each value to the current one.
enum verdict try_PROCESSES_SCHEDULING(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	unsigned long mask[128];
	unsigned long limit[2];
	long value;

	if (!pid)
		return skipped("no process was planted");
	value = call(__NR_getpriority, PRIO_PROCESS, pid, 0, 0);
	if (!failed(&tries, value) &&
	    !failed(&tries, call(__NR_setpriority, PRIO_PROCESS, pid, 20 - value, 0)))
		return leaked("the priority of process %d can be set", pid);
	value = call(__NR_sched_getaffinity, pid, sizeof(mask), mask, 0);
	if (!failed(&tries, value) &&
	    !failed(&tries, call(__NR_sched_setaffinity, pid, value, mask, 0)))
		return leaked("the affinity of process %d can be set", pid);
	if (!failed(&tries, call(__NR_prlimit64, pid, RLIMIT_NOFILE, NULL, limit)))
		return leaked("the limits of process %d can be read", pid);
	return all_failed(&tries);
}
