// SPDX-License-Identifier: MIT
// The guard process: watches the project and the git directories, and examines what changes.
//
// Theory of operation:
// 1. The top directory and the git directories of the project are watched first, then all others,
//    one by one, while bwrap sets up the box. Each is searched after its watch is set, so nothing
//    that was created before is missed. Places that are found are protected as soon as the box has
//    its mounts.
// 2. The guard reports READY when all directories are watched, in a large project when the git
//    directories are. The supervisor starts the agent after that. Entries are compared with the
//    time of the start, so one that the agent creates before its directory is watched is found and
//    moved.
// 3. If the kernel discards events, everything is searched again.
// 4. When the box has ended, everything is searched once more. If claudebox is killed, the guard
//    goes on until the box has ended, searches, and exits.
#include "guard/known_places.h"
#include "guard/watcher.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/emptied.h"
#include "guard/git/directory.h"
#include "guard/git/links.h"
#include "guard/guard.h"
#include "guard/pending.h"
#include "guard/permissions.h"
#include "guard/replaced.h"
#include "guard/search.h"
#include "guard/watches.h"
#include "guard/writers.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	EVENTS_SIZE = 64 * 1024,
	PENDING_MS = 20,
	BOX_END_MS = 15000,   // the killer of the box needs at most 10 s
	SMALL_PROJECT = 1000, // directories
	SWEEP_ROUNDS = 16,    // of 64 KiB of events
	ALL_READY_MS = 100,   // that the start waits at most for the watches
	LARGE_PROJECT = 300,  // directories
};

static void handle_event(struct watcher *watcher, const struct inotify_event *event)
{
	const struct watch *watch = watches_find(&watcher->watches, event->wd);
	bool moved_in = (event->mask & IN_ISDIR) && (event->mask & (IN_CREATE | IN_MOVED_TO));
	struct arena arena = { 0 };
	struct search search = { .fd = -1, .moved_in = moved_in };
	const char *directory;

	if (event->mask & IN_IGNORED) {
		watches_remove(&watcher->watches, event->wd);
		return;
	}
	if (!watch)
		return;
	directory = arena_strdup(&arena, watch->path);
	search.directory = path_join(&arena, directory, event->len ? event->name : "");
	watcher->search = moved_in ? &search : NULL;
	if (watch->kind == WATCH_PLACES && event->len)
		replaced_note(watcher, path_join(&arena, directory, event->name), event->mask);
	if (watch->kind == WATCH_FILE)
		writers_look(watcher, directory);
	if (watch->kind == WATCH_FILE && !(event->mask & IN_OPEN)) // also of an open by the guard
		examine_entry(watcher, path_parent(&arena, directory), path_name(directory));
	else if (event->len && event->name[0])
		examine_entry(watcher, directory, event->name);
	if (event->len && !(event->mask & IN_ISDIR) && (event->mask & (IN_CREATE | IN_MOVED_TO)))
		examine_link(watcher, directory, event->name);
	watcher->search = NULL;
	if (moved_in && guard_is_dependency(event->name))
		search_note_dependencies(watcher, directory, event->name);
	if (moved_in && !search_skips(watcher, directory, event->name)) {
		// At once: a directory may be filled before its watch is set.
		search_directory(watcher, path_join(&arena, directory, event->name), true);
	}
	arena_free(&arena);
}

// Handles the events that are there. Returns whether there were any.
static bool handle_events(struct watcher *watcher)
{
	_Alignas(struct inotify_event) static char buffer[EVENTS_SIZE];
	ssize_t length = read(watcher->watches.inotify, buffer, sizeof(buffer));
	uint64_t start = watcher->read_bytes;

	watcher->read_bytes += length > 0 ? (uint64_t)length : 0;
	for (ssize_t at = 0; at < length;) {
		const struct inotify_event *event = (const void *)(buffer + at);

		watcher->event_at = start + (uint64_t)at;
		if (event->mask & IN_Q_OVERFLOW) {
			watcher->overflowed = true;
			search_queue_tops(watcher);
		} else {
			handle_event(watcher, event);
		}
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return length > 0;
}

// Returns whether all directories are searched again: events may have been missed, or it costs
// nothing. Directories that were not searched yet are searched in any case.
static bool needs_search(const struct watcher *watcher)
{
	const struct watches *watches = &watcher->watches;

	return watcher->overflowed || watcher->unkept || watches->exhausted ||
	       (watcher->complete && watches->count < SMALL_PROJECT);
}

// Handles the events that are left, and searches everything once.
static void sweep(struct watcher *watcher)
{
	watcher->strict = true;
	// Bounded: a program of the host may go on changing files.
	for (int i = 0; i < SWEEP_ROUNDS && handle_events(watcher); i++)
		;
	if (needs_search(watcher))
		search_queue_tops(watcher);
	while (search_next(watcher))
		;
	pending_examine(watcher);
	writers_examine(watcher);
	examine_tracked(watcher);
	if (watcher->box_ended)
		git_directories_finish(watcher);
	git_links_finish(watcher);
	permissions_return(watcher);
	watcher->strict = watcher->box_ended;
}

static void wait_for_box(struct watcher *watcher)
{
	CLEANUP_FD int end = watcher->init ? process_open(watcher->init) : -1;
	int64_t until = clock_monotonic_ms() + BOX_END_MS;

	while (end >= 0 && clock_monotonic_ms() < until) {
		struct pollfd waits[] = { { .fd = end, .events = POLLIN },
					  { .fd = watcher->watches.inotify, .events = POLLIN } };

		if (poll(waits, ARRAY_SIZE(waits), PENDING_MS) > 0 && waits[0].revents)
			break;
		handle_events(watcher);
	}
}

static _Noreturn void finish(struct watcher *watcher)
{
	watcher->box_ended = true;
	sweep(watcher);
	search_dependencies(watcher);
	emptied_remove(watcher);
	watcher_tell(watcher, GUARD_ENDED, "", NULL);
	_exit(0);
}

static void handle_order(struct watcher *watcher)
{
	struct guard_order order;
	ssize_t length = recv(watcher->channel, &order, sizeof(order), MSG_DONTWAIT);

	if (length < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (length != sizeof(order)) { // claudebox was killed
		wait_for_box(watcher);
		finish(watcher);
	}
	if (order.kind == GUARD_SET_INIT) {
		watcher->init = order.value;
		watcher->init_ms = clock_monotonic_ms();
		known_protect_all(watcher);
	} else if (order.kind == GUARD_SWEEP) {
		sweep(watcher);
		for (size_t i = 0; i < RECENT_COUNT; i++) // the user decides what it means
			watcher->recents[i].times = 0;
		watcher_tell(watcher, GUARD_SWEPT, "", NULL);
	} else if (order.kind == GUARD_END) {
		finish(watcher);
	}
}

// Returns whether all directories are watched, or so many of a large project that the agent may
// start: the top directory and the git directories are searched first.
static bool is_ready(const struct watcher *watcher)
{
	const struct watches *watches = &watcher->watches;

	return !watches->first || (!watches->last_urgent && watches->count >= LARGE_PROJECT);
}

// Returns whether the search of a large project waits until the box has its mounts: it would slow
// down bwrap.
static bool is_paused(const struct watcher *watcher)
{
	return !watcher->init && is_ready(watcher);
}

// Returns how long to wait for events.
static int next_timeout(const struct watcher *watcher)
{
	if (watcher->watches.first && !is_paused(watcher))
		return 0;
	return watcher->pending || writers_exist(watcher) ? PENDING_MS : -1;
}

// Reports that the agent may start.
static void tell_ready(struct watcher *watcher)
{
	watcher->complete |= !watcher->watches.first;
	if (watcher->told_ready || !watcher->init)
		return;
	if (!is_ready(watcher) && clock_monotonic_ms() < watcher->init_ms + ALL_READY_MS)
		return;
	watcher->told_ready = true;
	watcher_tell(watcher, GUARD_READY, "", NULL);
}

_Noreturn void watcher_run(struct watcher *watcher)
{
	int64_t judged_ms = 0, examined_ms = 0;

	search_list_parents(watcher);
	watcher->begun_ms = clock_monotonic_ms();
	search_queue_tops(watcher);
	for (;;) {
		struct pollfd waits[] = { { .fd = watcher->channel, .events = POLLIN },
					  { .fd = watcher->watches.inotify, .events = POLLIN } };

		poll(waits, ARRAY_SIZE(waits), next_timeout(watcher));
		// By the clock: a stream of events would postpone them for ever.
		if (clock_monotonic_ms() >= examined_ms + PENDING_MS && watcher->pending) {
			pending_examine(watcher);
			examined_ms = clock_monotonic_ms();
		}
		if (clock_monotonic_ms() >= judged_ms + PENDING_MS && writers_exist(watcher)) {
			writers_judge(watcher);
			judged_ms = clock_monotonic_ms();
		}
		if (waits[0].revents)
			handle_order(watcher);
		if (waits[1].revents)
			handle_events(watcher);
		else if (!is_paused(watcher))
			search_next(watcher);
		tell_ready(watcher);
		if (!watcher->watches.first)
			permissions_return(watcher);
	}
}
