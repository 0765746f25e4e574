// SPDX-License-Identifier: MIT
// Removes old sessions, by their number and by the size of the snapshots.
//
// Theory of operation: git removes contents by writing all others again, which takes seconds for
// gigabytes. So it runs only when there are many packs, or when the packs are larger than the
// limit. Then it makes room for more sessions. If the last session alone is larger than the limit,
// it runs again when the packs have grown by a quarter. The snapshot of a session that runs is an
// index, which git does not know, so nothing is removed until all sessions have ended.
#include "snapshot/expire.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "render/instances.h"
#include "snapshot/session.h"
#include "snapshot/store.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/output.h"
#include "sys/write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// The size of the packs after the last removal.
#define SIZE_NAME "size"

enum { KEPT_SESSIONS = 10, MOST_PACKS = 40, SIZE_LIMIT = 64 };

struct packs {
	size_t count;
	uint64_t size;
};

static struct packs measure(const struct store *store, struct arena *arena)
{
	strings names = list_directory(arena, store->directory, "objects/pack");
	struct packs packs = { 0 };

	vec_each(name, &names) {
		struct stat status;

		if (!str_ends(*name, ".pack") ||
		    fstatat(store->directory, path_join(arena, "objects/pack", *name), &status,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		packs.count++;
		packs.size += (uint64_t)status.st_size;
	}
	return packs;
}

// Writes all contents that are in use to one pack, and removes the others.
static struct packs repack(const struct store *store, struct arena *arena)
{
	static const char *const arguments[] = { "-c",      "gc.packRefs=false", "gc",
						 "--quiet", "--prune=now",       NULL };
	session_list list = session_list_all(store, arena);
	struct git_run run = { .arguments = arguments };
	struct error ignored = { .arena = arena };
	bool kept = true;
	struct packs packs;

	// An earlier version packed the references: those of removed sessions stayed.
	vec_each(record, &list)
		kept = kept && session_keep_trees(store, record, &ignored);
	if (kept)
		unlinkat(store->directory, "packed-refs", 0);
	git_run(store, arena, &run);
	packs = measure(store, arena);
	replace_file(store->directory, SIZE_NAME,
		     arena_printf(arena, "%llu\n", (unsigned long long)packs.size), &ignored);
	return packs;
}

// Removes sessions until the contents are below the limit, half of them each time.
static void shrink(const struct store *store, uint64_t limit, const session_list *list,
		   size_t first, struct arena *arena)
{
	struct packs packs = repack(store, arena); // of sessions that were removed earlier
	size_t before = first;

	while (packs.size > limit / 4 * 3 && first + 1 < list->count) {
		for (size_t end = first + (list->count - first + 1) / 2;
		     first < end && first + 1 < list->count; first++)
			session_remove(store, list->items[first].id, arena);
		packs = repack(store, arena);
	}
	if (first > before)
		output_message("undo",
			       "removed the snapshots of %s: those of this project had more than "
			       "%s",
			       render_count(arena, first - before, "old session"),
			       render_size(arena, limit));
}

void snapshot_expire(const struct store *store, uint64_t limit, struct arena *arena)
{
	session_list list = session_list_all(store, arena);
	size_t first = list.count > KEPT_SESSIONS ? list.count - KEPT_SESSIONS : 0;
	struct packs packs = measure(store, arena);
	const char *text = file_read_at(arena, store->directory, SIZE_NAME, SIZE_LIMIT);
	uint64_t last = text ? strtoull(text, NULL, 10) : 0;

	for (size_t i = 0; i < first; i++)
		session_remove(store, list.items[i].id, arena);
	if (session_count(store, arena) != list.count - first)
		return; // one runs, or was killed
	if (packs.size > limit && packs.size > last + last / 4)
		shrink(store, limit, &list, first, arena);
	else if (packs.count > MOST_PACKS)
		repack(store, arena);
}
