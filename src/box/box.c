// SPDX-License-Identifier: MIT
// Runs a box from start to end: state, bwrap, network, supervision, report.
#include "box/box.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "box/cgroup.h"
#include "box/control.h"
#include "box/discarded.h"
#include "box/guarding.h"
#include "box/killer.h"
#include "box/launch.h"
#include "box/mount_namespace.h"
#include "box/supervise.h"
#include "box/tether.h"
#include "guard/git/copies.h"
#include "guard/guard.h"
#include "init/protocol.h"
#include "network/network.h"
#include "network/refusals.h"
#include "config/options/table.h"
#include "plan/plan.h"
#include "plan/report/report.h"
#include "plan/tables.h"
#include "report/report.h"
#include "snapshot/session.h"
#include "snapshot/snapshot.h"
#include "state/changed_servers.h"
#include "state/conversations.h"
#include "state/conversations_copy.h"
#include "state/credentials.h"
#include "state/home.h"
#include "state/home_points.h"
#include "state/prepare.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/output.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/write.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { EXIT_TIMEOUT_MS = 2000, INFO_TIMEOUT_MS = 20000 };

void box_kill(const struct box *box)
{
	if (box->bwrap > 1)
		kill(-box->bwrap, SIGKILL);
}

int box_reap(struct box *box)
{
	siginfo_t info;
	int status;

	// Until bwrap is reaped, no other process can get the number of its process group.
	while (waitid(P_PID, (id_t)box->bwrap, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	box_kill(box);
	status = process_wait(box->bwrap);
	box->bwrap = -1;
	return status;
}

// Closes the control socket. init then exits, and bwrap after it, without an error message.
static void close_control(struct box *box)
{
	cleanup_close(&box->control_fd);
	box->control_fd = -1;
}

// Waits until bwrap has set up the sandbox, completes its mounts, checks its cgroup, and sends
// init the message to start the agent. Returns true also if init has exited: bwrap failed and has
// printed the reason, and the supervisor reports its exit status.
static bool start_agent(struct box *box, const struct plan *plan, struct error *error)
{
	struct message message;
	enum control_result result;
	pid_t init;

	killer_start(box); // these two while bwrap works
	if (!copies_write(plan, error->arena, error))
		return false;
	result = control_wait(box->control_fd, box->bwrap_end, &message, &init);
	if (result == CONTROL_CLOSED) {
		close_control(box);
		return true;
	}
	if (result == CONTROL_NONE) {
		error_set(error, "timeout while bwrap sets up the sandbox");
		return error_hint(error,
				  "check for a mount on a file system that does not respond");
	}
	if (message.kind == MESSAGE_RESTRICTION_FAILED) {
		error_set(error,
			  "cannot apply the process restrictions (core dump limit, Landlock): %s",
			  strerror(message.value));
		return error_hint(error, "run claudebox --check to see what this kernel supports");
	}
	killer_set_init(box, init);
	if (!box_finish_mounts(plan, init, &box->in_memory, error) ||
	    !cgroup_check_limits(&box->cgroup, plan, init, error->arena, error))
		return false;
	guard_set_init(&box->guard, init); // the places are at their paths now
	if (!guarding_wait_ready(&box->guarding, box, plan, error))
		return false;
	snapshot_wait(&box->snapshot, plan, error->arena);
	if (!control_send(box->control_fd, MESSAGE_START, 0))
		return error_set(error, "cannot start the agent: %s", strerror(errno));
	return true;
}

// Returns the pid of the box's process 1, as bwrap reports it on --info-fd: {"child-pid": 123, …}.
// Returns -1 if bwrap fails before that.
static pid_t read_child_pid(const struct box *box)
{
	char text[4096];
	bool complete;
	size_t length =
		read_until_end(box->info_fd, text, sizeof(text) - 1, INFO_TIMEOUT_MS, &complete);
	const char *number;

	if (!complete)
		return -1;
	text[length] = '\0';
	number = strstr(text, "\"child-pid\"");
	number = number ? strchr(number, ':') : NULL;
	return number ? (pid_t)strtol(number + 1, NULL, 10) : -1;
}

// Waits until bwrap's child has continued: it waits for bwrap first, then it maps its user. Returns
// false if one of them is killed before.
static bool wait_for_child(const struct box *box, pid_t child, struct arena *arena)
{
	const char *path = arena_printf(arena, "/proc/%d/uid_map", (int)child);
	CLEANUP_FD int child_end = process_open(child);

	for (int i = 0; i < INFO_TIMEOUT_MS; i++) {
		struct pollfd wait[] = { { .fd = box->bwrap_end, .events = POLLIN },
					 { .fd = child_end, .events = POLLIN } };
		char map[64];

		if (read_kernel_file(AT_FDCWD, path, map, sizeof(map)) != 0)
			return true;
		if (poll(wait, ARRAY_SIZE(wait), 1) > 0)
			return false;
	}
	return false;
}

// Ends all processes of a box whose setup has failed. Their end takes no time, except if bwrap or
// its child cannot be killed because a file system does not respond.
static void end_setup(struct box *box)
{
	close_control(box);
	if (box->bwrap_end < 0 || !wait_readable(box->bwrap_end, EXIT_TIMEOUT_MS))
		box_kill(box);
	box_reap(box);
}

// Completes the setup from outside while init waits, and starts the agent. The part of the network
// setup that needs no sandbox runs while bwrap sets it up. On failure the agent never starts and
// bwrap has ended.
static bool finish_setup(struct box *box, const struct plan *plan, struct network *network,
			 struct error *error)
{
	bool attached = tier_table[plan->config->network].attached;
	bool ok = !attached || network_prepare(network, plan, error);
	pid_t child;

	tether_child(&box->tether, box->control_fd);
	child = ok && attached ? read_child_pid(box) : 0;
	if (box->tether.child > 0)
		child = box->tether.child;
	if (child > 0 && !wait_for_child(box, child, error->arena))
		child = -1;
	tether_release(&box->tether);
	if (child < 0) { // bwrap has failed and has printed the reason
		close_control(box);
		return true;
	}
	network->box_end = box->bwrap_end;
	if (ok && (!attached || network_start(network, child, error)) &&
	    start_agent(box, plan, error))
		return true;
	if (attached)
		network_end(network);
	end_setup(box);
	return false;
}

// Adds the refused connections to the report, and prints them in one line.
static void add_network(struct report *report, const struct plan *plan, struct network *network,
			struct arena *arena)
{
	struct reader reader = output_reader(STDERR_FILENO);
	bool quiet = plan->config->audit == AUDIT_QUIET;
	struct refusals refusals = { 0 };
	bool counted = network && network_refused(network, arena, &refusals);

	report->tier = network_tier_names[plan->config->network];
	if (network && network_was_lost(network))
		output_message("network", "pasta or the DNS relay ended before the box");
	if (network && !quiet && !counted)
		output_message("network", "cannot read the counters of refused connections");
	if (!counted)
		return;
	report->refused = refused_render_json(arena, &refusals);
	report->network = refused_render_line(arena, &refusals, true);
	if (report->network && !quiet)
		output_message("network", "%s",
			       refused_render_line(arena, &refusals, reader.ascii));
}

static void close_box(struct box *box)
{
	killer_end(box);
	cgroup_remove(&box->cgroup);
	discarded_close(&box->in_memory);
	cleanup_close(&box->control_fd);
	cleanup_close(&box->bwrap_end);
	cleanup_close(&box->terminal.fd);
	cleanup_close(&box->info_fd);
}

// Tells the user what the session left, and keeps the report.
static void report_session(const struct plan *plan, struct arena *arena, struct box *box,
			   struct network *network, const struct session_record *record,
			   const struct timespec *start, bool saved, int status)
{
	struct report report = { .status = status };
	bool quiet = plan->config->audit == AUDIT_QUIET;

	vec_each(path, &box->guarding.moved)
		vec_push(arena, &report.moved, (struct report_moved){ .path = *path });
	report.settings = box->guarding.settings;
	report.saved = saved;
	report.started_ms = clock_ms(start);
	report.ended_ms = clock_realtime_ms();
	report_add_changes(&report, plan, record, arena);
	discarded_read(&box->in_memory, plan, arena, &report.discarded);
	add_network(&report, plan, network, arena);
	if (!quiet)
		terminal_report(&box->terminal);
	if (!quiet)
		report_changed_servers(plan, arena);
	report.resume = conversation_last(plan, arena, *start);
	report_print(&report, plan, arena);
	if (report.resume && !quiet)
		output_message("resume", "claudebox --resume %s", report.resume);
	report_write(&report, plan, arena);
}

bool box_run(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error)
{
	struct network network = { .pasta = { .end = -1 } };
	struct box box = BOX_NONE;
	CLEANUP_FD int lock = -1;
	CLEANUP_FD int home_lock = -1;
	CLEANUP_FD int copies_lock = -1;
	struct session_record record;
	struct timespec start;
	bool changed = false, saved = false;
	bool ok;

	if (plan->config->report && fcntl(plan->config->report, F_GETFD) < 0) {
		error_set(error, "cannot write the report: descriptor %d is not open",
			  plan->config->report);
		return error_hint(error,
				  "open it in the shell: `claudebox --report-fd %d %d>report.json`",
				  plan->config->report, plan->config->report);
	}
	lock = instance_prepare(plan, error);
	if (lock < 0 || !conversations_copy(plan, error) ||
	    !home_prepare(plan, &home_lock, error) || !credentials_prepare(plan, arena, error) ||
	    !copies_prepare(plan, &copies_lock, error))
		return false;
	clock_gettime(CLOCK_REALTIME_COARSE, &start); // the clock of files
	// Signals are blocked from here on. Those that arrive before the agent runs are forwarded
	// later.
	close(supervise_open_signals());
	box.guarding.arena = arena;
	guarding_start(&box.guarding, plan);
	snapshot_start(&box.snapshot, plan, arena);
	ok = guard_start(&box.guard, plan, error) &&
	     terminal_open(&box.terminal, plan, arena, error) &&
	     box_launch(&box, plan, arena, error) && finish_setup(&box, plan, &network, error);
	if (ok) {
		ok = box_supervise(&box, plan, network.plan ? &network : NULL, ret_status, error);
		terminal_restore(&box.terminal);
		guarding_finish(&box.guarding, &box, plan);
		saved = box.snapshot.id != NULL;
		changed = snapshot_finish(&box.snapshot, plan, arena, &record);
		saved = saved && !box.snapshot.failed;
		if (ok)
			report_session(plan, arena, &box, network.plan ? &network : NULL,
				       changed ? &record : NULL, &start, saved, *ret_status);
		if (network.plan)
			network_end(&network);
	} else {
		terminal_restore(&box.terminal);
		guarding_finish(&box.guarding, &box, plan);
		snapshot_abort(&box.snapshot, plan, arena);
	}
	close_box(&box);
	home_remove_points(plan, arena, home_lock >= 0 ? home_lock : lock);
	home_measure(plan, arena);
	futimens(lock, NULL); // the time of the lock file is that of the last use
	return ok;
}

// Returns a plan with the network of `plan`, a read-only root, and a command that does nothing.
static struct plan build_trial_plan(const struct plan *plan, struct arena *arena)
{
	struct config *config = arena_alloc(arena, sizeof(*config));
	struct plan trial = {
		.config = config,
		.inet = plan->inet,
		.project = "/",
		.home = "/",
		.hostname = plan->hostname,
		.bwrap = plan->bwrap,
		.scoped = plan->scoped,
		.seccomp = plan->seccomp,
		.uid = plan->uid,
		.gid = plan->gid,
	};

	config->network = plan->config->network;
	config->nested = plan->config->nested;
	plan_add_mount(&trial, arena,
		       (struct plan_mount){ .kind = MOUNT_READ_ONLY, .source = "/", .path = "/" });
	plan_add_mount(&trial, arena, (struct plan_mount){ .kind = MOUNT_PROC, .path = "/proc" });
	plan_add_mount(&trial, arena, (struct plan_mount){ .kind = MOUNT_DEV, .path = "/dev" });
	vec_push(arena, &trial.command, "/bin/sh");
	vec_push(arena, &trial.command, "-c");
	vec_push(arena, &trial.command, ":");
	return trial;
}

bool box_try_network(const struct plan *plan, struct arena *arena, struct error *error)
{
	struct network network = { .pasta = { .end = -1 } };
	struct plan trial = build_trial_plan(plan, arena);
	struct box box = BOX_NONE;
	sigset_t child_ended, blocked;
	bool ok;

	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, &blocked);
	ok = box_launch(&box, &trial, arena, error) && finish_setup(&box, &trial, &network, error);
	if (ok) {
		if (box_reap(&box) != 0) {
			error_set(error, "cannot set up the sandbox: bwrap failed");
			ok = error_hint(error, "the message of bwrap is above");
		}
	}
	if (network.plan)
		network_end(&network);
	close_box(&box);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return ok;
}
