// SPDX-License-Identifier: MIT
// Entries that cannot be judged yet.
#include "guard/pending.h"

#include "base/text.h"
#include "guard/watcher.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 4096 };

void pending_add(struct watcher *watcher, const char *directory, const char *name)
{
	struct pending *pending = watcher->pending;

	while (pending &&
	       !(str_equal(pending->directory, directory) && str_equal(pending->name, name)))
		pending = pending->next;
	if (pending)
		return;
	pending = calloc(1, sizeof(*pending));
	if (!pending || watcher->pending_count >= MAX_PENDING) {
		free(pending);
		return; // the search at the end finds it
	}
	pending->directory = strdup(directory);
	pending->name = strdup(name);
	pending->next = watcher->pending;
	watcher->pending = pending;
	watcher->pending_count++;
}

void pending_examine(struct watcher *watcher)
{
	struct pending *list = watcher->pending;

	watcher->pending = NULL;
	watcher->pending_count = 0;
	while (list) {
		struct pending *next = list->next;

		if (list->directory && list->name)
			examine_entry(watcher, list->directory, list->name);
		free(list->directory);
		free(list->name);
		free(list);
		list = next;
	}
}
