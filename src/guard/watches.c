// SPDX-License-Identifier: MIT
// Watches on directories: which watch belongs to which path, and the directories that are still to
// be searched.
//
// Theory of operation: a box creates and renames directories as it likes, so memory is freed at
// once and not taken from an arena. A watch belongs to an inode, not to a path: a directory that
// was renamed keeps its number, and gets its new path when it is searched again.
#include "guard/watches.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

enum { FIRST_BUCKETS = 256, DESCRIPTOR_PATH = 40 };

#define DIRECTORY_EVENTS \
	(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK)
#define PLACES_EVENTS (DIRECTORY_EVENTS | IN_MODIFY | IN_DELETE | IN_MOVED_FROM)
#define FILE_EVENTS   (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_OPEN)

bool watches_open(struct watches *watches)
{
	*watches = (struct watches){ .inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
	// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
	watches->buckets = calloc(FIRST_BUCKETS, sizeof(struct watch *));
	watches->bucket_count = watches->buckets ? FIRST_BUCKETS : 0;
	return watches->inotify >= 0 && watches->buckets;
}

static struct watch **find_slot(const struct watches *watches, int number)
{
	struct watch **slot = &watches->buckets[(size_t)number % watches->bucket_count];

	while (*slot && (*slot)->number != number)
		slot = &(*slot)->next;
	return slot;
}

const struct watch *watches_find(const struct watches *watches, int number)
{
	return *find_slot(watches, number);
}

void watches_remove(struct watches *watches, int number)
{
	struct watch **slot = find_slot(watches, number);
	struct watch *found = *slot;

	if (!found)
		return;
	*slot = found->next;
	watches->numerous_count -= found->kind == WATCH_NUMEROUS;
	free(found->path);
	free(found);
	watches->count--;
}

// Doubles the buckets, so that a look-up stays short.
static void grow(struct watches *watches)
{
	size_t count = watches->bucket_count * 2;
	// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
	struct watch **buckets = calloc(count, sizeof(struct watch *));

	for (size_t i = 0; buckets && i < watches->bucket_count; i++) {
		struct watch *next;

		for (struct watch *watch = watches->buckets[i]; watch; watch = next) {
			next = watch->next;
			watch->next = buckets[(size_t)watch->number % count];
			buckets[(size_t)watch->number % count] = watch;
		}
	}
	if (!buckets)
		return;
	free(watches->buckets);
	watches->buckets = buckets;
	watches->bucket_count = count;
}

// Stores the path of a watch. Returns false if no memory is left.
static bool store(struct watches *watches, int number, const char *path, enum watch_kind kind,
		  bool *ret_new)
{
	struct watch **slot;
	char *copy = strdup(path);

	if (watches->count > watches->bucket_count)
		grow(watches);
	slot = find_slot(watches, number);
	*ret_new = !*slot || strcmp((*slot)->path, path) != 0;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		watches->count += *slot != NULL;
	}
	if (!copy || !*slot) {
		free(copy);
		return false;
	}
	watches->numerous_count -= (*slot)->kind == WATCH_NUMEROUS;
	free((*slot)->path);
	(*slot)->number = number;
	(*slot)->path = copy;
	(*slot)->kind = kind; // a new one was a WATCH_DIRECTORY, which is 0
	watches->numerous_count += kind == WATCH_NUMEROUS;
	return true;
}

bool watches_add(struct watches *watches, int fd, const char *path, enum watch_kind kind,
		 bool *ret_new)
{
	static const uint32_t events[] = { [WATCH_DIRECTORY] = DIRECTORY_EVENTS,
					   [WATCH_PLACES] = PLACES_EVENTS,
					   [WATCH_NUMEROUS] = DIRECTORY_EVENTS,
					   [WATCH_FILE] = FILE_EVENTS };
	char name[DESCRIPTOR_PATH];
	int number;

	*ret_new = false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	number = inotify_add_watch(watches->inotify, name, events[kind]);
	if (number < 0) {
		watches->exhausted |= errno == ENOSPC || errno == ENOMEM;
		return false;
	}
	return store(watches, number, path, kind, ret_new);
}

// Adds a directory to the queue behind `before`; NULL: it becomes the first. Returns its record,
// NULL: no memory is left.
static struct waiting *insert(struct watches *watches, struct waiting *before, const char *path,
			      bool moved_in)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	struct waiting **slot = before ? &before->next : &watches->first;

	if (waiting)
		*waiting = (struct waiting){ .path = strdup(path), .moved_in = moved_in };
	if (!waiting || !waiting->path) {
		free(waiting);
		watches->exhausted = true;
		return NULL;
	}
	waiting->next = *slot;
	*slot = waiting;
	if (!waiting->next)
		watches->last = waiting;
	return waiting;
}

void watches_queue(struct watches *watches, const char *path, bool moved_in)
{
	insert(watches, watches->last, path, moved_in);
}

void watches_queue_urgent(struct watches *watches, const char *path, bool moved_in)
{
	struct waiting *waiting = insert(watches, watches->last_urgent, path, moved_in);

	if (waiting)
		watches->last_urgent = waiting;
}

bool watches_next(struct watches *watches, struct waiting *ret_waiting)
{
	struct waiting *waiting = watches->first;

	if (!waiting)
		return false;
	*ret_waiting = *waiting;
	watches->first = waiting->next;
	if (!watches->first)
		watches->last = NULL;
	if (watches->last_urgent == waiting)
		watches->last_urgent = NULL;
	free(waiting);
	return true;
}
