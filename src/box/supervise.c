// SPDX-License-Identifier: MIT
// Supervises a running box: forwards signals, does job control, returns the exit status.
//
// Theory of operation: the supervisor waits for messages of init, signals, and events of the
// terminal, the network and the credentials, until bwrap ends. A signal sent to claudebox itself is
// forwarded to the agent once. Job control is in job.c.
#include "box/supervise.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/control.h"
#include "box/guarding.h"
#include "box/hangup.h"
#include "box/job.h"
#include "box/killer.h"
#include "box/sandbox.h"
#include "init/protocol.h"
#include "network/network.h"
#include "plan/plan.h"
#include "state/credentials.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/process.h"
#include "terminal/relay.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static const int forwarded_signals[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2
};

struct supervisor {
	struct box *box;
	const struct plan *plan;
	struct credentials *credentials;
	struct job job;
	struct hangup hangup;
	int exec_error;   // errno of the agent's execution; 0: none
	int status;       // exit status of the agent; -1: not known yet
	bool guard_stops; // the box is being stopped for the guard
	bool bwrap_ended;
	int bwrap_status; // as wait(2) reports it
};

// Slots of the poll array.
enum {
	SLOT_SIGNALS,
	SLOT_CONTROL,
	SLOT_CREDENTIALS,
	SLOT_HANGUP,
	SLOT_GUARD,
	SLOT_NETWORK,
	SLOT_TERMINAL = SLOT_NETWORK + NETWORK_WATCHED,
	SLOT_COUNT = SLOT_TERMINAL + TERMINAL_POLL_SLOTS,
};

static void send_to_init(const struct supervisor *supervisor, int kind, int value)
{
	control_send(supervisor->box->control_fd, kind, value);
}

// Asks the user about a box that was stopped for the guard, and continues or ends it.
static void decide_for_guard(struct supervisor *supervisor, bool all_stopped)
{
	struct box *box = supervisor->box;

	supervisor->guard_stops = false;
	supervisor->job.stopping = false;
	if (guarding_decide(&box->guarding, box, supervisor->plan) && all_stopped)
		job_signal_continue(&supervisor->job);
	else
		box_kill(box);
}

// Handles events of the guard.
static void handle_guard(struct supervisor *supervisor)
{
	struct box *box = supervisor->box;
	enum guarding_result result = guarding_handle(&box->guarding, box, supervisor->plan);

	if (result == GUARDING_END) {
		box->guarding.ended = true;
		box_kill(box);
	} else if (result == GUARDING_STOP && !supervisor->job.stopping) {
		supervisor->guard_stops = true;
		supervisor->job.stopping = true;
		send_to_init(supervisor, MESSAGE_STOP, 0);
	}
}

// Receives one message of init. Returns false if init has closed the socket.
static bool receive_message(struct supervisor *supervisor)
{
	struct message message;
	pid_t sender;
	enum control_result result =
		control_receive(supervisor->box->control_fd, &message, &sender);

	if (result != CONTROL_MESSAGE)
		return result == CONTROL_NONE;
	if (message.kind == MESSAGE_STARTED)
		supervisor->job.agent = sender;
	else if (message.kind == MESSAGE_FAILED)
		supervisor->exec_error = message.value;
	else if (message.kind == MESSAGE_STOPPED)
		job_agent_stopped(&supervisor->job, message.value);
	else if (message.kind == MESSAGE_ALL_STOPPED && supervisor->guard_stops)
		decide_for_guard(supervisor, message.value != 0);
	else if (message.kind == MESSAGE_ALL_STOPPED)
		job_box_stopped(&supervisor->job, message.value != 0);
	else if (message.kind == MESSAGE_ENDED)
		supervisor->status = message.value & 0xff;
	return true;
}

// Reaps bwrap if it has ended.
static void check_bwrap(struct supervisor *supervisor)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)supervisor->box->bwrap, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid)
		return;
	supervisor->bwrap_status = box_reap(supervisor->box);
	supervisor->bwrap_ended = true;
}

static void handle_signal(struct supervisor *supervisor, int signals)
{
	struct box *box = supervisor->box;
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		check_bwrap(supervisor);
	} else if (info.ssi_signo == SIGCONT) {
		job_signal_continue(&supervisor->job);
	} else if (info.ssi_signo == SIGWINCH) {
		terminal_relay_resize(&box->terminal);
	} else if (!(info.ssi_signo == SIGTSTP && info.ssi_pid == (uint32_t)getpid()) &&
		   !terminal_relay_signal(&box->terminal, &info)) {
		send_to_init(supervisor, MESSAGE_SIGNAL, (int)info.ssi_signo);
	}
}

int supervise_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded_signals); i++)
		sigaddset(&set, forwarded_signals[i]);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	// Blocked, but not read: in the background, read(2) fails instead, and tcsetpgrp(3)
	// succeeds.
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGTTIN);
	sigdelset(&set, SIGTTOU);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void prepare_poll(const struct supervisor *supervisor, int signals, int control,
			 struct pollfd slots[SLOT_COUNT])
{
	int network[NETWORK_WATCHED] = { -1, -1, -1, -1 };

	if (supervisor->job.network)
		network_watched(supervisor->job.network, network);
	slots[SLOT_SIGNALS] = (struct pollfd){ .fd = signals, .events = POLLIN };
	slots[SLOT_CONTROL] = (struct pollfd){ .fd = control, .events = POLLIN };
	slots[SLOT_CREDENTIALS] =
		(struct pollfd){ .fd = credentials_descriptor(supervisor->credentials),
				 .events = POLLIN };
	slots[SLOT_GUARD] =
		(struct pollfd){ .fd = supervisor->box->guard.channel, .events = POLLIN };
	for (int i = 0; i < NETWORK_WATCHED; i++)
		slots[SLOT_NETWORK + i] = (struct pollfd){ .fd = network[i], .events = POLLIN };
	hangup_prepare_poll(&supervisor->hangup, supervisor->box, slots + SLOT_HANGUP);
	terminal_prepare_poll(&supervisor->box->terminal, slots + SLOT_TERMINAL);
}

// Returns the shorter one of two timeouts; a negative one never expires.
static int shorter(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

// Waits for an event, and does the work whose time has come: the check of the terminal, the next
// step after a hang-up, the start of the credentials watch. Returns false with errno if poll(2)
// fails.
static bool wait_for_event(struct supervisor *supervisor, struct pollfd slots[SLOT_COUNT])
{
	struct terminal *terminal = &supervisor->box->terminal;
	int terminal_ms = terminal_timeout(terminal);
	int other_ms = shorter(credentials_timeout(supervisor->credentials),
			       hangup_timeout(&supervisor->hangup));
	bool terminal_first = terminal_ms >= 0 && terminal_ms == shorter(terminal_ms, other_ms);
	int ready = poll(slots, SLOT_COUNT, shorter(terminal_ms, other_ms));

	if (ready < 0 && errno != EINTR)
		return false;
	hangup_check(&supervisor->hangup, supervisor->box, slots + SLOT_HANGUP);
	terminal_check(terminal, ready == 0 && terminal_first);
	if (credentials_timeout(supervisor->credentials) == 0) {
		credentials_watch(supervisor->credentials);
		// Before a long wait: returns freed memory, and 2.3 MB of code that the start ran.
		malloc_trim(0);
		process_release_code();
	}
	return true;
}

static void handle_network(struct supervisor *supervisor,
			   const struct pollfd slots[NETWORK_WATCHED])
{
	bool ready[NETWORK_WATCHED];
	bool any = false;

	for (int i = 0; i < NETWORK_WATCHED; i++)
		any |= ready[i] = slots[i].revents != 0;
	if (any)
		network_handle_events(supervisor->job.network, ready);
}

// Receives the messages that init sent before it ended, until the exit status is known.
static void receive_last_messages(struct supervisor *supervisor, int control)
{
	while (control >= 0 && supervisor->status < 0 && receive_message(supervisor) &&
	       supervisor->status < 0) {
		struct pollfd slot = { .fd = control, .events = POLLIN };

		if (poll(&slot, 1, 0) <= 0)
			break;
	}
}

// Handles events until bwrap has ended.
static bool run_loop(struct supervisor *supervisor, struct error *error)
{
	CLEANUP_FD int signals = supervise_open_signals();
	int control = supervisor->box->control_fd;

	if (signals < 0)
		return error_set(error, "cannot create a signalfd: %s", strerror(errno));
	check_bwrap(supervisor); // the start may have taken SIGCHLD
	while (!supervisor->bwrap_ended) {
		struct pollfd slots[SLOT_COUNT];

		prepare_poll(supervisor, signals, control, slots);
		if (!wait_for_event(supervisor, slots))
			return error_set(error, "cannot wait for events: %s", strerror(errno));
		// Messages first: the last one may arrive together with SIGCHLD.
		if (slots[SLOT_CONTROL].revents && !receive_message(supervisor))
			control = -1;
		if (slots[SLOT_SIGNALS].revents)
			handle_signal(supervisor, signals);
		if (slots[SLOT_CREDENTIALS].revents)
			credentials_changed(supervisor->credentials);
		if (slots[SLOT_GUARD].revents && !supervisor->bwrap_ended)
			handle_guard(supervisor);
		if (!supervisor->bwrap_ended)
			handle_network(supervisor, slots + SLOT_NETWORK);
		terminal_handle_poll(&supervisor->box->terminal, slots + SLOT_TERMINAL);
	}
	receive_last_messages(supervisor, control);
	return true;
}

// Returns the exit status of bwrap as a shell shows it.
static int bwrap_exit_status(const struct supervisor *supervisor)
{
	return WIFSIGNALED(supervisor->bwrap_status)
		       ? EXIT_SIGNAL_BASE + WTERMSIG(supervisor->bwrap_status)
		       : WEXITSTATUS(supervisor->bwrap_status);
}

// Sets the error for a bwrap that failed before the agent started.
static bool set_setup_error(const struct supervisor *supervisor, const struct plan *plan,
			    struct error *error)
{
	const char *fix = NULL;
	const char *output;
	// The settings of the machine are the reason only if bwrap cannot create the smallest
	// sandbox either.
	const char *problem = sandbox_try(error->arena, plan->bwrap, &output)
				      ? NULL
				      : sandbox_find_problem(error->arena, &fix);

	error_set(error, "cannot set up the sandbox: bwrap exited with status %d",
		  bwrap_exit_status(supervisor));
	if (problem)
		return error_hint(error, "%s: %s", problem, fix);
	if (plan->limits.method == LIMITS_SYSTEMD)
		return error_hint(error, "the message of systemd-run or bwrap is above; a profile "
					 "without \"limits\" does not need systemd");
	return error_hint(error, "the message of bwrap is above; claudebox --check tests for the "
				 "usual reasons");
}

// Adds a hint about a command that is a link to a program of the host that the box lacks, for
// example of a virtual environment. The project may have chosen the link, so the hint names no
// path. Returns false if it is something else.
static bool hint_missing_target(const struct plan *plan, struct error *error)
{
	struct arena *arena = error->arena;
	const char *command = plan->command.items[0];
	struct followed file;

	if (!strchr(command, '/'))
		return false;
	file = file_follow(arena, path_join(arena, plan->project, command));
	if (!file.hops.count || file.kind != FILE_REGULAR || plan_provides(plan, file.real))
		return false;
	error_set(error, "cannot execute '%s' in the box: it is a link to '%s', which is not there",
		  quote_display(arena, command, 0), quote_display(arena, file.real, 0));
	error_hint(error,
		   "if it is yours and has no secrets, --mount-ro mounts the directory of its "
		   "installation");
	return true;
}

// Sets the error for an agent that init could not execute.
static bool set_exec_error(const struct supervisor *supervisor, const struct plan *plan,
			   struct error *error)
{
	error->status = supervisor->exec_error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	if (supervisor->exec_error == ENOENT && hint_missing_target(plan, error))
		return false;
	error_set(error, "cannot execute '%s' in the box: %s",
		  quote_display(error->arena, plan->command.items[0], 0),
		  strerror(supervisor->exec_error));
	return error_hint(error, "--dry-run shows what is in the box");
}

bool box_supervise(struct box *box, const struct plan *plan, struct network *network,
		   int *ret_status, struct error *error)
{
	struct credentials credentials = { .plan = plan,
					   .watch = -1,
					   .since_ms = clock_monotonic_ms() };
	struct supervisor supervisor = {
		.box = box,
		.plan = plan,
		.credentials = &credentials,
		.job = { .box = box, .network = network },
		.hangup = hangup_open(),
		.status = -1,
	};
	bool ok;

	malloc_trim(0);
	terminal_start(&box->terminal);
	ok = run_loop(&supervisor, error);
	// init has reported the status as its last act, and bwrap has ended after init. The killer
	// ends while the credentials are synchronized.
	if (ok && supervisor.status >= 0)
		killer_dismiss(box);
	job_take_foreground(&supervisor.job);
	credentials_end(&credentials);
	if (!ok)
		return false;
	if (supervisor.exec_error)
		return set_exec_error(&supervisor, plan, error);
	if (supervisor.status < 0 && supervisor.job.agent <= 0)
		return set_setup_error(&supervisor, plan, error);
	if (supervisor.status < 0) // a process outside the box has killed it
		supervisor.status = bwrap_exit_status(&supervisor);
	*ret_status = box->guarding.ended ? EXIT_GUARDED : supervisor.status;
	return true;
}
