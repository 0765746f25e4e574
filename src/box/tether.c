// SPDX-License-Identifier: MIT
// Makes the kernel kill bwrap's child if claudebox is killed while the child waits for bwrap.
//
// Theory of operation: bwrap creates a child, process 1 of the new PID namespace, and the child
// waits for bwrap by an eventfd. If bwrap is killed meanwhile, the child waits forever, because an
// eventfd has no end of file. If only bwrap is killed, claudebox kills bwrap's process group. If
// claudebox is killed too, no process is left that could. The kernel kills a process together with
// its parent only on its own request (PR_SET_PDEATHSIG), which bwrap's child makes later. But the
// kernel also kills the traced processes of a tracer that ends (PTRACE_O_EXITKILL), and a tracer
// gets the children of a traced process at the moment of their creation. So claudebox traces bwrap
// until it has created the child, and the child until it has continued. Each is stopped only to
// attach and to detach. Where tracing is not permitted (Yama, a container, another tracer, a setuid
// bwrap), claudebox starts the box without it.
#include "box/tether.h"

#include "sys/clock.h"
#include "sys/read.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { EVENT_TIMEOUT_MS = 20000, PAUSE_MS = 10 };

static long trace(int request, pid_t pid, unsigned long data)
{
	// NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace(2) passes numbers as pointers
	return ptrace(request, pid, NULL, (void *)data);
}

// Waits until a traced process stops or ends. Returns the event of the stop; -1 if the process has
// ended, the timeout expires, or `control_fd` becomes readable. Does not reap the process.
static int wait_for_stop(pid_t pid, int control_fd, int *ret_signal)
{
	int64_t start = clock_monotonic_ms();
	sigset_t child_ended;

	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	do {
		static const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)pid, &info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) < 0)
			return -1;
		if (info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return -1;
		if (info.si_pid) {
			waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | __WALL);
			*ret_signal = info.si_status & 0x7f;
			return info.si_status >> 8;
		}
		if (control_fd >= 0 && wait_readable(control_fd, 0))
			return -1;
		sigtimedwait(&child_ended, NULL, &pause); // also returns for every stop
	} while (clock_left_ms(start, EVENT_TIMEOUT_MS) > 0);
	return -1;
}

// Waits for an event of a traced process, and passes signals on to it until then. Returns whether
// the event has occurred; the process is stopped then.
static bool wait_for_event(pid_t pid, int control_fd, int first, int second)
{
	int signal_number;
	int event;

	while ((event = wait_for_stop(pid, control_fd, &signal_number)) >= 0) {
		if (event == first || event == second)
			return true;
		trace(PTRACE_CONT, pid, event ? 0 : (unsigned long)signal_number);
	}
	return false;
}

// Stops a traced process to detach from it. Returns false if it has ended.
static bool detach(pid_t pid)
{
	trace(PTRACE_INTERRUPT, pid, 0);
	return wait_for_event(pid, -1, PTRACE_EVENT_STOP, PTRACE_EVENT_STOP) &&
	       trace(PTRACE_DETACH, pid, 0) == 0;
}

void tether_attach(struct tether *tether, pid_t bwrap)
{
	if (trace(PTRACE_SEIZE, bwrap,
		  PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE) == 0)
		tether->bwrap = bwrap;
}

// Returns whether a process is in another PID namespace than claudebox.
static bool is_in_new_namespace(pid_t pid)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat("/proc/self/ns/pid", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_ino != other.st_ino;
}

void tether_child(struct tether *tether, int control_fd)
{
	pid_t bwrap = tether->bwrap;

	tether->bwrap = 0;
	while (bwrap && wait_for_event(bwrap, control_fd, PTRACE_EVENT_FORK, PTRACE_EVENT_CLONE)) {
		unsigned long number = 0;
		pid_t child;

		ptrace(PTRACE_GETEVENTMSG, bwrap, NULL, &number);
		child = (pid_t)number;
		// A new traced process stops before its first instruction.
		if (!wait_for_event(child, -1, PTRACE_EVENT_STOP, PTRACE_EVENT_STOP)) {
			waitpid(child, NULL, WNOHANG | __WALL);
		} else if (is_in_new_namespace(child)) {
			tether->child = child;
			trace(PTRACE_SETOPTIONS, child, PTRACE_O_EXITKILL);
			trace(PTRACE_CONT, child, 0);
			trace(PTRACE_DETACH, bwrap, 0);
			return;
		} else { // bwrap is a script that runs other programs first
			trace(PTRACE_DETACH, child, 0);
		}
		trace(PTRACE_CONT, bwrap, 0);
	}
	// If bwrap is killed when it has just created its child, the child is traced and stopped,
	// but its number is unknown.
	if (bwrap && !detach(bwrap))
		kill(-bwrap, SIGKILL);
}

void tether_release(struct tether *tether)
{
	if (tether->child && !detach(tether->child))
		waitpid(tether->child, NULL, WNOHANG | __WALL);
	tether->child = 0;
}
