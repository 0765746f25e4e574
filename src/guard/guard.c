// SPDX-License-Identifier: MIT
// The guard as its supervisor sees it: start, orders, events, end.
#include "guard/guard.h"

#include "base/arena.h"
#include "base/error.h"
#include "guard/quarantine/quarantine.h"
#include "guard/watcher.h"
#include "guard/writers.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/read.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	READY_TIMEOUT_MS = 10000,
	CLOCK_TRIES = 100,      // a tick takes at most 10 ms
	END_TIMEOUT_MS = 60000, // of the search of a large project
	BOX_TIMEOUT_MS = 15000, // the killer of the box needs at most 10 s
	CHANNEL_FD = 3,         // numbers of descriptors in the guard
	QUARANTINE_FD = 4,
	FIRST_FREE_FD = 10,
};

// Keeps the two descriptors of the guard, and connects 0 to 2 with /dev/null.
static bool keep_descriptors(int channel, int quarantine)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high_channel = fcntl(channel, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int high_quarantine = fcntl(quarantine, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	if (null < 0 || high_channel < 0 || high_quarantine < 0)
		return false;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	dup3(high_channel, CHANNEL_FD, O_CLOEXEC);
	dup3(high_quarantine, QUARANTINE_FD, O_CLOEXEC);
	if (close_range(QUARANTINE_FD + 1, ~0U, 0) < 0)
		for (int fd = QUARANTINE_FD + 1; fd < 1024; fd++)
			close(fd);
	return true;
}

static _Noreturn void run(const struct plan *plan, int channel, int quarantine,
			  struct timespec start)
{
	static struct watcher watcher;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "claudebox-guard");
	setsid();
	if (!keep_descriptors(channel, quarantine))
		_exit(1);
	watcher = (struct watcher){
		.plan = plan, .channel = CHANNEL_FD, .quarantine = QUARANTINE_FD, .start = start
	};
	if (!watches_open(&watcher.watches))
		_exit(1);
	writers_prepare();
	watcher_run(&watcher);
}

bool guard_start(struct guard *guard, const struct plan *plan, struct error *error)
{
	CLEANUP_FD int quarantine = -1;
	int sockets[2];

	if (!plan->guard.active)
		return true;
	quarantine = quarantine_open(plan->state.instance, error);
	if (quarantine < 0)
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, "cannot create a socket pair: %s", strerror(errno));
	if (!guard->start.tv_sec)
		clock_gettime(CLOCK_REALTIME, &guard->start);
	guard->pid = fork();
	if (guard->pid == 0) {
		close(sockets[0]);
		run(plan, sockets[1], quarantine, guard->start);
	}
	close(sockets[1]);
	guard->channel = sockets[0];
	if (guard->pid > 0)
		return true;
	guard->pid = 0;
	return error_set(error, "cannot start the guard: %s", strerror(errno));
}

// Waits until a file that is changed gets a later time than `start`. The kernel takes the time of a
// file from a clock that advances with each tick, or from the exact one if that is later.
static void wait_for_file_clock(const struct timespec *start)
{
	static const struct timespec pause = { .tv_nsec = 500000 };
	struct timespec now;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		if (clock_is_later(&now, start))
			return;
		nanosleep(&pause, NULL);
	}
}

bool guard_wait_ready(struct guard *guard,
		      void (*handle)(void *context, const struct guard_event *), void *context,
		      struct error *error)
{
	struct guard_event event;
	bool ended;

	if (!guard->pid)
		return true;
	while (wait_readable(guard->channel, READY_TIMEOUT_MS)) {
		if (!guard_receive(guard, &event, &ended)) {
			if (ended)
				break;
			continue;
		}
		if (event.kind == GUARD_READY) {
			wait_for_file_clock(&guard->start);
			return true;
		}
		handle(context, &event);
	}
	error_set(error, "cannot watch the project: the guard did not start");
	return error_hint(error, "the limits of inotify(7) may be too small: see "
				 "/proc/sys/fs/inotify/max_user_instances and max_user_watches");
}

void guard_set_init(struct guard *guard, pid_t init)
{
	if (!guard->pid)
		return;
	guard->box_end = process_open(init);
	guard_send(guard, GUARD_SET_INIT, init);
}

void guard_send(const struct guard *guard, enum guard_order_kind kind, int value)
{
	struct guard_order order = { .kind = (int32_t)kind, .value = value };

	while (guard->channel >= 0 &&
	       send(guard->channel, &order, sizeof(order), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

bool guard_receive(const struct guard *guard, struct guard_event *ret_event, bool *ret_ended)
{
	ssize_t length = recv(guard->channel, ret_event, sizeof(*ret_event), MSG_DONTWAIT);

	*ret_ended = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
	ret_event->text[GUARD_TEXT_SIZE - 1] = '\0';
	ret_event->id[GUARD_ID_SIZE - 1] = '\0';
	return length == sizeof(*ret_event);
}

// Lets the guard search and end. Returns false if it ended before it had searched everything.
static bool end_guard(struct guard *guard,
		      void (*handle)(void *context, const struct guard_event *), void *context)
{
	struct guard_event event;
	bool ended = false;
	bool done = false;

	guard_send(guard, GUARD_END, 0);
	while (!ended && !done && wait_readable(guard->channel, END_TIMEOUT_MS)) {
		if (!guard_receive(guard, &event, &ended))
			continue;
		done = event.kind == GUARD_ENDED;
		if (!done)
			handle(context, &event);
	}
	if (!done)
		process_wait_or_kill(guard->pid, 1000);
	cleanup_close(&guard->channel);
	guard->pid = 0;
	guard->channel = -1;
	return done;
}

void guard_finish(struct guard *guard, const struct plan *plan,
		  void (*handle)(void *context, const struct guard_event *), void *context)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };

	// bwrap that was killed ends before the processes of the box.
	if (guard->box_end >= 0)
		wait_readable(guard->box_end, BOX_TIMEOUT_MS);
	if (guard->pid && !end_guard(guard, handle, context) && guard_start(guard, plan, &error))
		end_guard(guard, handle, context);
	cleanup_close(&guard->box_end);
	guard->box_end = -1;
	arena_free(&arena);
}
