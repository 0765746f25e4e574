// SPDX-License-Identifier: MIT
// The guard process: watches the project and the git directories, and examines what changes.
//
// Theory of operation:
// 1. The git directories and the top directory of the project are watched first, then all others,
//    one by one, while bwrap sets up the box. Each is searched after its watch is set, so nothing
//    that was created before is missed. Places that are found are protected as soon as the box has
//    its mounts.
// 2. The guard reports READY when all directories are watched, and after READY_MS in a large
//    project. The supervisor starts the agent after that. Entries are compared with the time of the
//    start, so one that the agent creates before its directory is watched is found and moved.
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
#include "guard/guard.h"
#include "guard/permissions.h"
#include "guard/replaced.h"
#include "guard/watches.h"
#include "guard/writers.h"
#include "plan/guard/index.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "probe/git/tracked.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EVENTS_SIZE = 64 * 1024,
	PENDING_MS = 20,
	BOX_END_MS = 15000,   // the killer of the box needs at most 10 s
	SMALL_PROJECT = 1000, // directories
	ENTRIES_SIZE = 32 * 1024,
	MAX_DEPENDENCIES = 300000, // directories that are searched at the end
	SWEEP_ROUNDS = 16,         // of 64 KiB of events
	EARLY_MS = 4,              // of search before the box has its mounts
	READY_MS = 3,        // that the start waits at most for the watches of a large project
	ALL_READY_MS = 100,  // and of a small one on a loaded machine
	LARGE_PROJECT = 300, // directories
};

static void tell_exhausted(struct watcher *watcher)
{
	if (!watcher->watches.exhausted || watcher->told_exhausted)
		return;
	watcher->told_exhausted = true;
	watcher_tell(watcher, GUARD_EXHAUSTED, "", NULL);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Lists the directories with planned places, for has_places().
static void list_parents(struct watcher *watcher)
{
	struct arena arena = { 0 }; // as long as the process

	vec_each(place, &watcher->plan->guard.places)
		vec_push(&arena, &watcher->parents, path_parent(&arena, place->path));
	if (watcher->parents.count)
		qsort(watcher->parents.items, watcher->parents.count,
		      sizeof(watcher->parents.items[0]), compare_paths);
}

// Returns whether a protected place lies directly in a directory.
static bool has_places(const struct watcher *watcher, const char *directory)
{
	size_t length = strlen(directory);

	for (const struct deep_place *deep = watcher->deep; deep; deep = deep->next)
		if (strncmp(deep->place.path, directory, length) == 0 &&
		    (size_t)(path_name(deep->place.path) - deep->place.path) == length + 1)
			return true;
	return watcher->parents.count &&
	       bsearch(&directory, watcher->parents.items, watcher->parents.count,
		       sizeof(watcher->parents.items[0]), compare_paths);
}

// Notes a directory of dependencies, for the search at the end.
static void note_dependencies(struct watcher *watcher, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, name);
	size_t count = watcher->dependency_count;
	char **paths = NULL;

	for (size_t i = 0; i < count; i++)
		if (str_equal(watcher->dependency_paths[i], path))
			goto end;
	paths = realloc(watcher->dependency_paths, (count + 1) * sizeof(char *));
	if (paths) {
		watcher->dependency_paths = paths;
		paths[count] = strdup(path);
		watcher->dependency_count += paths[count] != NULL;
	}
end:
	arena_free(&arena);
}

// Examines an entry of a directory that is searched, and queues it if it is a directory.
static void search_entry(struct watcher *watcher, const char *name, unsigned char type)
{
	const char *path = watcher->search->directory;
	struct arena arena = { 0 };

	if (str_equal(name, ".") || str_equal(name, ".."))
		return;
	// A repository is judged when its own directory is searched.
	if (type != DT_DIR || !str_equal(name, ".git"))
		examine_entry(watcher, path, name);
	if (type == DT_LNK)
		examine_link(watcher, path, name);
	if (type == DT_DIR && guard_is_dependency(name))
		note_dependencies(watcher, path, name);
	if ((type == DT_DIR || type == DT_UNKNOWN) && !examine_skips(watcher, path, name))
		watches_queue(&watcher->watches, path_join(&arena, path, name),
			      watcher->search->moved_in);
	arena_free(&arena);
}

// Opens a directory to search it. Adds permissions that the box has taken away.
static int open_for_search(struct watcher *watcher, const char *path)
{
	int fd = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	CLEANUP_FD int closed = -1;

	if (fd >= 0) {
		permissions_lend(watcher, fd, S_IRUSR | S_IXUSR);
		return fd;
	}
	if (errno != EACCES)
		return -1;
	closed = file_open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	if (closed >= 0 && permissions_lend(watcher, closed, S_IRUSR | S_IXUSR))
		return openat(closed, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	watcher->overflowed = true; // it is searched again at the end
	return -1;
}

// Watches a directory, examines its entries, and queues the directories in it. `moved_in`: the box
// created or renamed it, so its files are the box's, even those that an earlier box wrote.
static void search_directory(struct watcher *watcher, const char *path, bool moved_in)
{
	_Alignas(struct dirent64) static char buffer[ENTRIES_SIZE];
	CLEANUP_FD int fd = open_for_search(watcher, path);
	struct search search = { .directory = path, .outer = watcher->search };
	ssize_t length;
	bool added;

	if (fd < 0)
		return;
	watches_add(&watcher->watches, fd, path,
		    has_places(watcher, path) ? WATCH_PLACES : WATCH_DIRECTORY, &added);
	tell_exhausted(watcher);
	search.moved_in = moved_in || (added && watcher->complete);
	watcher->search = &search;
	// Without readdir(3), which needs six more system calls for each directory.
	while ((length = getdents64(fd, buffer, sizeof(buffer))) > 0) {
		const struct dirent64 *entry;

		for (ssize_t at = 0; at < length; at += entry->d_reclen) {
			entry = (const void *)(buffer + at);
			search_entry(watcher, entry->d_name, entry->d_type);
		}
	}
	watcher->search = search.outer;
}

static void queue_tops(struct watcher *watcher)
{
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (!path_within(*directory, watcher->plan->project))
			watches_queue(&watcher->watches, *directory, false);
	}
	watches_queue(&watcher->watches, watcher->plan->project, false);
}

static bool is_hidden_repository(const char *path, uint32_t mode)
{
	return (mode & GIT_MODE_TYPE) == GIT_MODE_LINK && guard_lies_in_dependencies(path);
}

void watcher_check_index(struct watcher *watcher, const char *git_directory)
{
	struct tracked tracked = { 0 };

	if (watcher->dependencies)
		return;
	tracked = tracked_open(git_directory);
	watcher->dependencies = tracked_any(&tracked, is_hidden_repository);
	tracked_close(&tracked);
	if (watcher->dependencies)
		queue_tops(watcher);
}

// Searches the next queued directory. Returns false if there is none.
static bool search_next(struct watcher *watcher)
{
	struct waiting waiting;

	if (!watches_next(&watcher->watches, &waiting))
		return false;
	search_directory(watcher, waiting.path, waiting.moved_in);
	free(waiting.path);
	return true;
}

static void handle_event(struct watcher *watcher, const struct inotify_event *event)
{
	const struct watch *watch = watches_find(&watcher->watches, event->wd);
	bool moved_in = (event->mask & IN_ISDIR) && (event->mask & (IN_CREATE | IN_MOVED_TO));
	struct arena arena = { 0 };
	struct search search = { .moved_in = moved_in };
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
		note_dependencies(watcher, directory, event->name);
	if (moved_in && !examine_skips(watcher, directory, event->name)) {
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
			queue_tops(watcher);
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

	return watcher->overflowed || watches->exhausted ||
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
		queue_tops(watcher);
	while (search_next(watcher))
		;
	examine_pending(watcher);
	writers_examine(watcher);
	examine_tracked(watcher);
	if (watcher->box_ended)
		git_directories_finish(watcher);
	permissions_return(watcher);
	watcher->strict = watcher->box_ended;
}

// Searches directories of dependencies for repositories, after the box has ended: a commit of the
// box can have one as a submodule.
static void search_dependencies(struct watcher *watcher)
{
	_Alignas(struct dirent64) static char buffer[ENTRIES_SIZE];
	struct watches queue = { 0 };
	struct waiting waiting;
	size_t count = 0;

	for (size_t i = 0; i < watcher->dependency_count; i++)
		watches_queue(&queue, watcher->dependency_paths[i], false);
	while (watches_next(&queue, &waiting)) {
		CLEANUP_FD int fd = open_for_search(watcher, waiting.path);
		struct arena arena = { 0 };
		ssize_t length;

		while (fd >= 0 && count < MAX_DEPENDENCIES &&
		       (length = getdents64(fd, buffer, sizeof(buffer))) > 0) {
			const struct dirent64 *entry;

			for (ssize_t at = 0; at < length; at += entry->d_reclen) {
				entry = (const void *)(buffer + at);
				if (str_equal(entry->d_name, ".git"))
					examine_entry(watcher, waiting.path, entry->d_name);
				else if (entry->d_type == DT_DIR &&
					 !str_equal(entry->d_name, ".") &&
					 !str_equal(entry->d_name, ".."))
					watches_queue(&queue,
						      path_join(&arena, waiting.path,
								entry->d_name),
						      false);
			}
		}
		count++;
		free(waiting.path);
		arena_free(&arena);
	}
	permissions_return(watcher);
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

// Returns whether the search of a large project waits until the box has its mounts: it would slow
// down bwrap.
static bool is_paused(const struct watcher *watcher)
{
	return !watcher->init && clock_monotonic_ms() >= watcher->begun_ms + EARLY_MS;
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
	int64_t waited;

	watcher->complete |= !watcher->watches.first;
	if (watcher->told_ready || !watcher->init)
		return;
	waited = clock_monotonic_ms() - watcher->init_ms;
	if (watcher->watches.first && waited < ALL_READY_MS &&
	    (waited < READY_MS || watcher->watches.count < LARGE_PROJECT))
		return;
	watcher->told_ready = true;
	watcher_tell(watcher, GUARD_READY, "", NULL);
}

_Noreturn void watcher_run(struct watcher *watcher)
{
	int64_t judged_ms = 0;

	list_parents(watcher);
	watcher->begun_ms = clock_monotonic_ms();
	queue_tops(watcher);
	for (;;) {
		struct pollfd waits[] = { { .fd = watcher->channel, .events = POLLIN },
					  { .fd = watcher->watches.inotify, .events = POLLIN } };

		if (poll(waits, ARRAY_SIZE(waits), next_timeout(watcher)) == 0 && watcher->pending)
			examine_pending(watcher);
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
