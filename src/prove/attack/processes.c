// SPDX-License-Identifier: MIT
// Attacks on processes of the host and on process 1.
#include "prove/attack/attack.h"

#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/socket.h>
#include <linux/uio.h>

enum { INIT = 1, UNIX = 1, DATAGRAM = 2, BOTH = 2 };

// Process 1, and the one of the host if there is a way to name it.
static size_t victims(int *pids)
{
	size_t count = 0;

	pids[count++] = INIT;
	pids[count] = host_process();
	return count + (pids[count] != 0);
}

enum verdict try_PROCESSES_SEE(void)
{
	const struct canary *canary = next_canary(NULL, "pid");
	char path[PATH_SIZE];
	struct tries tries = { 0 };
	long found;

	if (!canary)
		return skipped("nothing was planted");
	found = read_token(text_make(path, sizeof(path), "/proc/%s/cmdline", canary->field[0]));
	if (!failed(&tries, found) && found)
		return leaked("process %s is listed", canary->field[0]);
	return blocked_by(&tries);
}

// Signal 0 first; only what works is followed by one that a running process does not notice.
enum verdict try_PROCESSES_SIGNAL(void)
{
	int pid = host_process();
	struct tries tries = { 0 };

	if (!pid)
		return skipped("no process to try");
	if (failed(&tries, call(__NR_kill, pid, 0, 0, 0)))
		return blocked_by(&tries);
	call(__NR_kill, pid, SIGCONT, 0, 0);
	return leaked("process %d was signalled", pid);
}

enum verdict try_PROCESSES_SIGNAL_THREAD(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	siginfo_t info = { .si_signo = SIGCONT, .si_code = SI_QUEUE };

	if (!pid)
		return skipped("no process to try");
	if (!failed(&tries, call(__NR_tkill, pid, SIGCONT, 0, 0)))
		return leaked("tkill of %d", pid);
	if (!failed(&tries, call(__NR_tgkill, pid, pid, SIGCONT, 0)))
		return leaked("tgkill of %d", pid);
	if (!failed(&tries, call(__NR_rt_sigqueueinfo, pid, SIGCONT, &info, 0)))
		return leaked("rt_sigqueueinfo to %d", pid);
	return blocked_by(&tries);
}

enum verdict try_PROCESSES_SIGNAL_PIDFD(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	char path[64];
	long files[BOTH];

	if (!pid)
		return skipped("no process to try");
	files[0] = call(__NR_pidfd_open, pid, 0, 0, 0);
	files[1] = open_file(text_make(path, sizeof(path), "/proc/%d", pid), O_RDONLY);
	for (size_t i = 0; i < BOTH; i++)
		if (!failed(&tries, files[i]) &&
		    !failed(&tries, call(__NR_pidfd_send_signal, files[i], SIGCONT, NULL, 0)))
			return leaked("process %d was signalled", pid);
	return blocked_by(&tries);
}

// SIGURG is ignored unless somebody asks for it. Whether it arrived outside is for the host to say; here it is seen
// whether it could.
enum verdict try_PROCESSES_SIGNAL_ALL(void)
{
	int pid = host_process();

	call(__NR_kill, -1, SIGURG, 0, 0);
	if (pid && call(__NR_kill, pid, 0, 0, 0) == 0)
		return leaked("it reaches process %d", pid);
	return held("the box's own only");
}

// A group whose leader is outside of the box has the number 0 here.
enum verdict try_PROCESSES_SIGNAL_GROUP(void)
{
	int pid = host_process();
	long group = call(__NR_getpgid, 0, 0, 0, 0);

	call(__NR_kill, 0, SIGURG, 0, 0);
	if (group == 0)
		return leaked("the process group is led from outside");
	if (pid && call(__NR_getpgid, pid, 0, 0, 0) == group)
		return leaked("process %d is in the group", pid);
	return held("the group is the box's own");
}

enum verdict try_PROCESSES_SIGNAL_OWNER(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	int ends[BOTH] = { 0 };

	if (!pid)
		return skipped("no process to try");
	if (failed(&tries, call(__NR_pipe2, ends, O_CLOEXEC, 0, 0)) ||
	    failed(&tries, call(__NR_fcntl, ends[0], F_SETOWN, pid, 0)))
		return blocked_by(&tries);
	return leaked("signals would go to process %d", pid);
}

// As process 1, and as root.
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
	int ends[BOTH] = { 0 };
	long result = call(__NR_socketpair, UNIX, DATAGRAM, 0, ends);

	return result < 0 ? result : call(__NR_sendmsg, ends[0], &message, 0, 0);
}

enum verdict try_PROCESSES_CREDENTIALS(void)
{
	unsigned int user = (unsigned int)call(__NR_geteuid, 0, 0, 0, 0);
	struct tries tries = { 0 };

	if (!failed(&tries, send_credentials(INIT, user)))
		return leaked("a message says that it comes from process 1");
	if (!failed(&tries, send_credentials((int)call(__NR_getpid, 0, 0, 0, 0), user ? 0 : 1)))
		return leaked("a message says that it comes from another user");
	return blocked_by(&tries);
}

static enum verdict trace(int pid)
{
	struct tries tries = { 0 };

	if (!pid)
		return skipped("no process to try");
	if (!failed(&tries, call(__NR_ptrace, PTRACE_SEIZE, pid, 0, 0)))
		return leaked("process %d is traced", pid); // until we end, which is now
	return blocked_by(&tries);
}

enum verdict try_PROCESSES_PTRACE(void)
{
	return trace(host_process());
}

enum verdict try_PROCESSES_PTRACE_INIT(void)
{
	return trace(INIT);
}

// Nothing lies at that address: EFAULT means that only that was wrong.
enum verdict try_PROCESSES_VM_READ(void)
{
	int pids[BOTH];
	size_t count = victims(pids);
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
	return blocked_by(&tries);
}

enum verdict try_PROCESSES_MEM_FILE(void)
{
	int pids[BOTH];
	size_t count = victims(pids);
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < count; i++)
		if (!failed(&tries,
			    open_file(text_make(path, sizeof(path), "/proc/%d/mem", pids[i]),
				      O_RDWR)))
			return leaked("%s can be opened", path);
	return blocked_by(&tries);
}

enum verdict try_PROCESSES_OOM(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	char path[64];

	if (!pid)
		return skipped("no process to try");
	if (!failed(&tries, open_file(text_make(path, sizeof(path), "/proc/%d/oom_score_adj", pid),
				      O_WRONLY)))
		return leaked("%s can be opened", path);
	return blocked_by(&tries);
}

enum verdict try_PROCESSES_POINTERS(void)
{
	int pids[BOTH];
	size_t count = victims(pids);
	struct tries tries = { 0 };

	for (size_t i = 0; i < count; i++) {
		void *list = NULL;
		size_t size = 0;

		if (!failed(&tries, call(__NR_get_robust_list, pids[i], &list, &size, 0)))
			return leaked("addresses of process %d", pids[i]);
	}
	return blocked_by(&tries);
}

// Each is set to what it is already.
enum verdict try_PROCESSES_SCHEDULING(void)
{
	int pid = host_process();
	struct tries tries = { 0 };
	unsigned long mask[128];
	unsigned long limit[BOTH];
	long value;

	if (!pid)
		return skipped("no process to try");
	value = call(__NR_getpriority, PRIO_PROCESS, pid, 0, 0);
	if (!failed(&tries, value) &&
	    !failed(&tries, call(__NR_setpriority, PRIO_PROCESS, pid, 20 - value, 0)))
		return leaked("the priority of process %d", pid);
	value = call(__NR_sched_getaffinity, pid, sizeof(mask), mask, 0);
	if (!failed(&tries, value) &&
	    !failed(&tries, call(__NR_sched_setaffinity, pid, value, mask, 0)))
		return leaked("the processors of process %d", pid);
	if (!failed(&tries, call(__NR_prlimit64, pid, RLIMIT_NOFILE, NULL, limit)))
		return leaked("the limits of process %d", pid);
	return blocked_by(&tries);
}
