// SPDX-License-Identifier: MIT
// One box from start to end: state, bwrap, network, supervision, report.
#include "box/box.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "box/cgroup.h"
#include "box/control.h"
#include "box/launch.h"
#include "box/mount_namespace.h"
#include "box/supervise.h"
#include "init/protocol.h"
#include "network/network.h"
#include "network/refusals.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "state/credentials.h"
#include "state/prepare.h"
#include "sys/cleanup.h"
#include "sys/output.h"
#include "sys/process.h"
#include "sys/write.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LAST_MS = 2000, INFO_MS = 20000 };

// init ends by itself when nobody holds the other end of its socket; bwrap then follows, and complains of nothing.
static void give_up(struct box *box)
{
	cleanup_close(&box->control);
	box->control = -1;
}

// bwrap is done and init waits: the last step from outside, and the word. True also when there is no box: bwrap has
// said why.
static bool let_start(struct box *box, const struct plan *plan, struct error *error)
{
	struct message message;
	pid_t init;
	enum heard heard = control_await(box->control, &message, &init);

	if (heard == HEARD_END) {
		give_up(box);
		return true;
	}
	if (heard == HEARD_NOTHING) {
		error_hint(error, "is one of the mounts on a file system that does not answer?");
		return error_set(error, "the sandbox takes too long to set up");
	}
	if (message.kind == MESSAGE_RESTRICTION_FAILED) {
		error_hint(error, "claudebox --check shows what this kernel has");
		return error_set(error, "the box cannot be closed: %s", strerror(message.value));
	}
	if (!box_finish_mounts(plan, init, error) ||
	    !cgroup_confirm(&box->cgroup, plan, init, error->arena, error))
		return false;
	if (!control_say(box->control, MESSAGE_START, 0))
		return error_set(error, "cannot let the agent start: %s", strerror(errno));
	return true;
}

// The box's process 1 in our numbers, once bwrap has said it; -1: it never did. It says {"child-pid": 123, …}, in pieces,
// until it closes.
static pid_t await_child(const struct box *box)
{
	char text[4096];
	size_t length = 0;
	const char *number;

	while (length < sizeof(text) - 1) {
		struct pollfd wait = { .fd = box->info, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, INFO_MS) <= 0)
			return -1;
		got = read(box->info, text + length, sizeof(text) - 1 - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	number = strstr(text, "\"child-pid\"");
	number = number ? strchr(number, ':') : NULL;
	return number ? (pid_t)strtol(number + 1, NULL, 10) : -1;
}

// What is done from outside while the agent waits; without it, it never starts. What needs no box is done while bwrap
// makes it.
static bool finish_box(struct box *box, const struct plan *plan, struct network *network,
		       struct error *error)
{
	bool attached = tier_table[plan->network].attached;
	bool ok = !attached || network_prepare(network, plan, error);
	pid_t child = ok && attached ? await_child(box) : 0;

	if (child < 0) { // bwrap has failed and says why
		give_up(box);
		return true;
	}
	if (ok && (!attached || network_start(network, child, error)) &&
	    let_start(box, plan, error))
		return true;
	if (attached)
		network_end(network);
	give_up(box);
	process_wait_or_kill(box->bwrap, LAST_MS);
	return false;
}

// What was refused: a line for a person, JSON for a script that asked.
static void report_network(const struct plan *plan, struct network *network, struct arena *arena,
			   int status)
{
	struct reader reader = output_reader(STDERR_FILENO);
	bool lost = network && network_was_lost(network);
	bool person = network && reader.terminal;
	struct refusals refusals = { 0 };
	bool counted = network && (person || plan->report) &&
		       network_refused(network, arena, &refusals);
	const char *line = counted ? refused_render_line(arena, &refusals, reader.ascii) : NULL;
	const char *report;

	if (person && lost)
		output_message("network", "it was gone before the end");
	if (person && !counted)
		output_message("network", "what was refused cannot be read");
	if (person && line)
		output_message("network", "%s", line);
	if (!plan->report)
		return;
	report = refused_render_report(arena, plan, status, counted ? &refusals : NULL);
	if (!write_all(plan->report, report, strlen(report)))
		output_message("claudebox", "cannot write the report: %s", strerror(errno));
}

static void close_box(struct box *box)
{
	cgroup_end(&box->cgroup);
	cleanup_close(&box->control);
	cleanup_close(&box->terminal);
	cleanup_close(&box->info);
}

bool box_run(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error)
{
	struct network network = { .pasta = { .end = -1 } };
	struct box box = { .terminal = -1, .control = -1, .info = -1, .cgroup = CGROUP_NOT_MADE };
	CLEANUP_FD int held = -1;
	bool ok;

	if (plan->report && fcntl(plan->report, F_GETFD) < 0) {
		error_hint(error, "open it in the shell: `claudebox --report-fd %d %d>report.json`",
			   plan->report, plan->report);
		return error_set(error, "descriptor %d for the report is not open", plan->report);
	}
	held = instance_prepare(plan, error);
	if (held < 0 || !credentials_prepare(plan, arena, error))
		return false;
	// Blocked from here on: what arrives during the start is passed on afterwards.
	close(supervise_open_signals());
	box.terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	box.foreground = box.terminal >= 0 && tcgetpgrp(box.terminal) == getpgrp();
	ok = terminal_begin(&box, plan, arena, error) && box_launch(&box, plan, arena, error) &&
	     finish_box(&box, plan, &network, error);
	if (ok) {
		ok = box_supervise(&box, plan, network.plan ? &network : NULL, ret_status, error);
		terminal_end(&box);
		if (ok)
			report_network(plan, network.plan ? &network : NULL, arena, *ret_status);
		if (network.plan)
			network_end(&network);
	} else {
		terminal_end(&box);
	}
	close_box(&box);
	futimens(held, NULL); // the last use is its end
	return ok;
}

// A box with nothing in it but programs to read, and `true` to run: does the tier work here?
static struct plan trial_of(const struct plan *plan, struct arena *arena)
{
	struct plan trial = {
		.network = plan->network,
		.inet = plan->inet,
		.project = "/",
		.home = "/",
		.hostname = plan->hostname,
		.bwrap = plan->bwrap,
		.user_namespaces = plan->user_namespaces,
		.scoped = plan->scoped,
		.filter = plan->filter,
		.uid = plan->uid,
		.gid = plan->gid,
	};

	trial.inet.host_ports.count = trial.inet.published_ports.count = 0;
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
	struct plan trial = trial_of(plan, arena);
	struct box box = { .terminal = -1, .cgroup = CGROUP_NOT_MADE };
	int status = -1;
	bool ok = box_launch(&box, &trial, arena, error) &&
		  finish_box(&box, &trial, &network, error);

	if (ok) {
		status = process_wait(box.bwrap);
		if (status != 0) {
			error_hint(error, "bwrap says above what failed");
			ok = error_set(error, "the sandbox could not be set up");
		}
	}
	if (network.plan)
		network_end(&network);
	close_box(&box);
	return ok;
}
