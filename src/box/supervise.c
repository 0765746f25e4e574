// SPDX-License-Identifier: MIT
// Stays beside the box: passes signals in, keeps the terminal's job control as it is without a box, and brings the
// exit status out.
//
// Theory of operation: the agent runs in a process group of its own, which has the terminal while claudebox is in
// the foreground. The terminal's signals thus go straight to the agent. When the agent stops, init says so; we take
// the terminal back and stop our own group, so that the user's shell sees a stopped job. `fg` continues us, and we
// hand the terminal over again. Signals sent to claudebox itself are passed on, once each. With a filter (terminal_relay.c)
// the agent has another terminal, always; ours stays with us, and stops and continues in the same way.
#include "box/supervise.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/control.h"
#include "check/sandbox.h"
#include "init/protocol.h"
#include "network/network.h"
#include "plan/plan.h"
#include "state/credentials.h"
#include "sys/cleanup.h"
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

static const int passed_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2 };

struct watch {
	struct box *box;
	struct credentials *credentials;
	struct network *network; // NULL: the host's, or none
	pid_t agent;             // as seen from here; also its process group
	int failure;             // errno of the execution, 0: none
	int status;              // -1: not known yet
	bool gone;               // bwrap has been reaped
	int bwrap_status;
};

static void say(const struct watch *watch, int kind, int value)
{
	control_say(watch->box->control, kind, value);
}

static bool in_foreground(const struct watch *watch)
{
	return watch->box->terminal >= 0 && tcgetpgrp(watch->box->terminal) == getpgrp();
}

// Takes the terminal from the agent, or from what is left of it, but never from another job of the user.
static void take_terminal(const struct watch *watch)
{
	pid_t owner = watch->box->terminal < 0 ? -1 : tcgetpgrp(watch->box->terminal);

	if (owner <= 0 || owner == getpgrp())
		return;
	if (owner == watch->agent || (kill(-owner, 0) < 0 && errno == ESRCH))
		tcsetpgrp(watch->box->terminal, getpgrp());
}

// Stops our whole job, as the terminal's Ctrl+Z would; returns when it is continued. In a group that nobody
// could continue (no job-control shell above us) the kernel ignores the signal, and the agent just goes on: false.
static bool stop_job(void)
{
	sigset_t stop;
	sigset_t pending;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	kill(0, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
}

// A terminal of its own is the agent's in any case.
static void resume(const struct watch *watch)
{
	terminal_resumed(watch->box);
	say(watch, MESSAGE_RESUME, watch->box->screen.relay || in_foreground(watch));
}

static void agent_stopped(const struct watch *watch, int signal_number)
{
	bool wants_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;

	// `fg` of a job that was running in the background sends no signal: it just gives us the terminal.
	if (!(wants_terminal && in_foreground(watch))) {
		take_terminal(watch);
		terminal_stopping(watch->box);
		// It would ask for a terminal for ever that it can never get.
		if (!stop_job() && wants_terminal && !in_foreground(watch))
			say(watch, MESSAGE_SIGNAL, SIGHUP);
	}
	resume(watch);
}

static bool receive(struct watch *watch)
{
	struct message message;
	pid_t sender;
	enum heard heard = control_hear(watch->box->control, &message, &sender);

	if (heard != HEARD_MESSAGE)
		return heard == HEARD_NOTHING;
	if (message.kind == MESSAGE_STARTED)
		watch->agent = sender;
	else if (message.kind == MESSAGE_FAILED)
		watch->failure = message.value;
	else if (message.kind == MESSAGE_STOPPED)
		agent_stopped(watch, message.value);
	else if (message.kind == MESSAGE_ENDED)
		watch->status = message.value & 0xff;
	return true;
}

static void take_signal(struct watch *watch, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		if (waitpid(watch->box->bwrap, &watch->bwrap_status, WNOHANG) == watch->box->bwrap)
			watch->gone = true;
	} else if (info.ssi_signo == SIGCONT) {
		if (watch->agent > 0)
			resume(watch);
	} else if (info.ssi_signo == SIGWINCH) {
		terminal_resized(watch->box);
	} else if (!(info.ssi_signo == SIGTSTP && info.ssi_pid == (uint32_t)getpid())) {
		say(watch, MESSAGE_SIGNAL, (int)info.ssi_signo);
	}
}

int supervise_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(passed_signals); i++)
		sigaddset(&set, passed_signals[i]);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTTIN); // an error is enough
	sigaddset(&set, SIGTTOU); // we change the terminal's owner from behind it
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGTTIN);
	sigdelset(&set, SIGTTOU);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void take_network(struct watch *watch, const struct pollfd wait[NETWORK_WATCHED])
{
	bool ready[NETWORK_WATCHED];
	bool any = false;

	for (int i = 0; i < NETWORK_WATCHED; i++)
		any |= ready[i] = wait[i].revents != 0;
	if (any)
		network_take(watch->network, ready);
}

static bool watch_box(struct watch *watch, struct error *error)
{
	CLEANUP_FD int signals = supervise_open_signals();
	int control = watch->box->control;
	int beside[NETWORK_WATCHED] = { -1, -1, -1 };

	if (signals < 0)
		return error_set(error, "cannot watch signals: %s", strerror(errno));
	while (!watch->gone) {
		if (watch->network)
			network_watched(watch->network, beside);

		struct pollfd wait[] = { { .fd = signals, .events = POLLIN },
					 { .fd = control, .events = POLLIN },
					 { .fd = credentials_descriptor(watch->credentials),
					   .events = POLLIN },
					 { .fd = beside[0], .events = POLLIN },
					 { .fd = beside[1], .events = POLLIN },
					 { .fd = beside[2], .events = POLLIN },
					 { .fd = -1 },
					 { .fd = -1 } };
		int patience = credentials_timeout(watch->credentials);
		int look = terminal_timeout(watch->box);
		bool looks = look >= 0 && (patience < 0 || look < patience);
		int ready;

		terminal_watched(watch->box, wait + 6);
		ready = poll(wait, ARRAY_SIZE(wait), looks ? look : patience);

		if (ready < 0 && errno != EINTR)
			return error_set(error, "cannot wait: %s", strerror(errno));
		terminal_look(watch->box, ready == 0 && looks);
		if (ready == 0 && !looks) {
			credentials_watch(watch->credentials);
			malloc_trim(0); // returns freed memory before a long wait
		}
		// Messages first: the last one may come together with the end of the process.
		if (wait[1].revents && !receive(watch))
			control = -1;
		if (wait[0].revents)
			take_signal(watch, signals);
		if (wait[2].revents)
			credentials_changed(watch->credentials);
		if (!watch->gone)
			take_network(watch, wait + 3);
		terminal_take(watch->box, wait + 6);
	}
	while (control >= 0 && watch->status < 0 && receive(watch) && watch->status < 0) {
		struct pollfd left = { .fd = control, .events = POLLIN };

		if (poll(&left, 1, 0) <= 0)
			break;
	}
	return true;
}

static bool not_started(const struct watch *watch, const struct plan *plan, struct error *error)
{
	const char *cure = NULL;
	const char *output;
	// A machine that makes sandboxes is not to blame, whatever its settings look like.
	const char *problem = check_try_sandbox(error->arena, plan->bwrap, &output)
				      ? NULL
				      : check_userns_problem(error->arena, &cure);

	if (problem)
		error_hint(error, "%s: %s", problem, cure);
	else if (plan->limits.way == LIMITS_SYSTEMD)
		error_hint(error, "systemd-run or bwrap says above what failed; without \"limits\" "
				  "in the profile systemd is not needed");
	else
		error_hint(error,
			   "bwrap says above what failed; claudebox --check looks at the usual "
			   "reasons");
	return error_set(error, "the sandbox could not be set up (bwrap ended with %d)",
			 WIFEXITED(watch->bwrap_status)
				 ? WEXITSTATUS(watch->bwrap_status)
				 : EXIT_SIGNAL_BASE + WTERMSIG(watch->bwrap_status));
}

static bool not_executed(const struct watch *watch, const struct plan *plan, struct error *error)
{
	error->status = watch->failure == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	error_hint(error, "what is in the box is shown by --dry-run");
	return error_set(error, "cannot execute '%s' in the box: %s",
			 quote_display(error->arena, plan->command.items[0], 0),
			 strerror(watch->failure));
}

bool box_supervise(struct box *box, const struct plan *plan, struct network *network,
		   int *ret_status, struct error *error)
{
	struct credentials credentials = { .plan = plan, .watch = -1 };
	struct watch watch = {
		.box = box, .credentials = &credentials, .network = network, .status = -1
	};
	bool ok;

	malloc_trim(0);
	terminal_relay_started(box);
	ok = watch_box(&watch, error);
	take_terminal(&watch);
	credentials_end(&credentials);
	if (!ok)
		return false;
	if (watch.failure)
		return not_executed(&watch, plan, error);
	if (watch.status < 0 && watch.agent <= 0)
		return not_started(&watch, plan, error);
	if (watch.status < 0) // the box was killed from outside
		watch.status = WIFSIGNALED(watch.bwrap_status)
				       ? EXIT_SIGNAL_BASE + WTERMSIG(watch.bwrap_status)
				       : WEXITSTATUS(watch.bwrap_status);
	*ret_status = watch.status;
	return true;
}
