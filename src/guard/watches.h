// SPDX-License-Identifier: MIT
// Watches on directories: which watch belongs to which path, and the directories that are still to
// be searched.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum watch_kind {
	WATCH_DIRECTORY,
	WATCH_PLACES,   // a directory with protected places
	WATCH_NUMEROUS, // a directory of which a repository can have many
	WATCH_FILE,
};

struct watch {
	int number; // of inotify(7)
	char *path;
	enum watch_kind kind;
	struct watch *next;
};

// A directory that is still to be searched.
struct waiting {
	char *path;
	bool moved_in; // the box created or renamed it
	struct waiting *next;
};

struct watches {
	int inotify;
	struct watch **buckets;
	size_t bucket_count;
	size_t count;
	size_t numerous_count; // of WATCH_NUMEROUS
	struct waiting *first; // directories to search
	struct waiting *last;
	struct waiting *last_urgent; // of those that are searched before the others; NULL: none
	bool exhausted;              // the kernel's limit is reached
};

bool watches_open(struct watches *watches);
// Watches an open directory or file, or changes the path of its watch. Returns false with errno on
// failure; *ret_new: it was not watched before, or at another path.
bool watches_add(struct watches *watches, int fd, const char *path, enum watch_kind kind,
		 bool *ret_new);
// Returns the watch with this number, NULL: none. The path is valid until the next call.
const struct watch *watches_find(const struct watches *watches, int number);
void watches_remove(struct watches *watches, int number);
// Adds a directory to those that are still to be searched.
void watches_queue(struct watches *watches, const char *path, bool moved_in);
// Adds a directory behind those that were added by this function, and before all others.
void watches_queue_urgent(struct watches *watches, const char *path, bool moved_in);
// Takes the next of them; the caller frees the path. Returns false if none is left.
bool watches_next(struct watches *watches, struct waiting *ret_waiting);
