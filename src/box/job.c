// SPDX-License-Identifier: MIT
// Job control: stops and continues the box together with claudebox.
//
// Theory of operation: the agent runs in its own process group. With "terminal": "direct", that
// group has the foreground of the user's terminal while claudebox is in the foreground, so the
// terminal sends its signals directly to the agent. When the agent stops, init reports it.
// claudebox lets init stop all other processes of the box, stops pasta and the DNS relay, takes the
// foreground back and stops itself, so that the user's shell sees a stopped job. So no process of
// the box runs while no rule of the network is renewed. When `fg` continues claudebox, it renews
// the rules of the network first, then it continues the helpers and the box, and gives the
// foreground to the agent again. With a terminal relay (terminal/relay.c), the agent always has the
// foreground of its own terminal and claudebox that of the user's.
#include "box/job.h"

#include "box/box.h"
#include "box/control.h"
#include "init/protocol.h"
#include "network/network.h"
#include "sys/output.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static bool in_foreground(const struct job *job)
{
	return terminal_is_foreground(&job->box->terminal);
}

void job_take_foreground(const struct job *job)
{
	int terminal_fd = job->box->terminal.fd;
	pid_t owner = terminal_fd < 0 ? -1 : tcgetpgrp(terminal_fd);

	if (owner <= 0 || owner == getpgrp())
		return;
	if (owner == job->agent || (kill(-owner, 0) < 0 && errno == ESRCH))
		tcsetpgrp(terminal_fd, getpgrp());
}

// Stops claudebox and returns when it is continued. In the foreground of a terminal, stops its
// process group, as Ctrl+Z does, because a shell waits for all processes of the job. Otherwise the
// group can have programs that have nothing to do with the box, such as a script or timeout(1).
// Returns false if the kernel ignored the signal because the group is orphaned: no job-control
// shell could continue it.
static bool stop_self(const struct job *job)
{
	static const struct timespec no_time = { 0 };
	sigset_t stop;
	sigset_t resume;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigemptyset(&resume);
	sigaddset(&resume, SIGCONT);
	// The stop signal discards a pending SIGCONT, which is later than the stop of the agent.
	if (sigtimedwait(&resume, NULL, &no_time) == SIGCONT)
		return true;
	kill(in_foreground(job) ? 0 : getpid(), SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	// Not left for the event loop: it would continue a box that has stopped again.
	return sigtimedwait(&resume, NULL, &no_time) == SIGCONT;
}

static void signal_helpers(const struct job *job, int signal_number)
{
	const struct network *network = job->network;

	if (network && network->pasta.pid > 0)
		kill(network->pasta.pid, signal_number);
	if (network && network->dns_relay.pid > 0)
		kill(network->dns_relay.pid, signal_number);
}

// Renews the network rules and continues the box, with the foreground of its terminal if claudebox
// has it or the terminal is its own.
static void job_continue(const struct job *job)
{
	struct box *box = job->box;

	if (job->network)
		network_renew(job->network);
	signal_helpers(job, SIGCONT);
	terminal_resume(&box->terminal);
	control_send(box->control_fd, MESSAGE_RESUME, box->terminal.relay || in_foreground(job));
}

void job_signal_continue(struct job *job)
{
	if (job->stopping)
		job->continued = true;
	else if (job->agent > 0)
		job_continue(job);
}

void job_agent_stopped(struct job *job, int signal_number)
{
	bool wants_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;

	if (job->stopping)
		return;
	// `fg` of a job that runs in the background gives claudebox the foreground without a
	// signal.
	if (wants_terminal && in_foreground(job)) {
		job_continue(job);
		return;
	}
	job->stop_signal = signal_number;
	job->stopping = true;
	job->continued = false;
	control_send(job->box->control_fd, MESSAGE_STOP, 0);
}

void job_box_stopped(struct job *job, bool all_stopped)
{
	bool wants_terminal = job->stop_signal == SIGTTIN || job->stop_signal == SIGTTOU;

	if (!job->stopping)
		return;
	job->stopping = false;
	if (!all_stopped) {
		output_message("claudebox", "the box was killed: a process of it does not stop");
		box_kill(job->box);
		return;
	}
	if (job->continued) {
		job_continue(job);
		return;
	}
	signal_helpers(job, SIGSTOP);
	job_take_foreground(job);
	terminal_suspend(&job->box->terminal);
	// An agent that can neither stop nor get the terminal would try to use it forever.
	if (!stop_self(job) && wants_terminal && !in_foreground(job))
		control_send(job->box->control_fd, MESSAGE_SIGNAL, SIGHUP);
	job_continue(job);
}
