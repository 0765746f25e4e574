// SPDX-License-Identifier: MIT
// The directory of the credentials that all boxes share and can write.
//
// Theory of operation: any box can put anything into ~/.claudebox/sign-in, and it stays there for
// all later boxes. claudebox itself opens two names there, `store` and its credentials file, so
// other entries do not disturb it. They can disturb Claude: it locks by creating a directory whose
// time it renews every few seconds, and a directory with content or with a time in the future is a
// lock that never ends. Every start removes such entries. A directory with content is not emptied
// here, because it can be of any size: it is moved among the instances that --gc removes.
#include "state/credentials_store.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/state/instances.h"
#include "sys/cleanup.h"
#include "sys/list.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// Claude renews a lock at least every 8 seconds.
enum { ATTEMPTS = 10, ENTRIES_MAX = 1024, LOCK_AGE_S = 60 };

static int open_parent(const struct plan *plan, struct arena *arena)
{
	struct error ignored = { .arena = arena };

	return open_directory(AT_FDCWD, plan->state.credentials, plan->state.credentials, &ignored);
}

// Opens the store in the shared directory.
static int open_store(int parent, struct arena *arena)
{
	struct error ignored = { .arena = arena };
	int store = -1;

	for (int i = 0; store < 0 && i < ATTEMPTS; i++) {
		if (i)
			unlinkat(parent, CREDENTIALS_STORE, 0);
		store = open_directory(parent, CREDENTIALS_STORE, CREDENTIALS_STORE, &ignored);
	}
	return store;
}

int credentials_open_store(const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int parent = open_parent(plan, arena);

	return parent < 0 ? -1 : open_store(parent, arena);
}

// Moves a directory among the instances, with the name of an interrupted removal.
static bool discard_directory(int root, int parent, const char *name, struct arena *arena)
{
	CLEANUP_FD int instances =
		openat(root, INSTANCES_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored = { .arena = arena };
	// A directory can only be moved when it is writable.
	CLEANUP_FD int directory = open_directory(parent, name, name, &ignored);
	unsigned long long random = 0;

	if (instances < 0 || directory < 0 || getrandom(&random, sizeof(random), 0) < 0)
		return false;
	return renameat2(parent, name, instances,
			 arena_printf(arena, INSTANCE_REMOVED "%016llx", random),
			 RENAME_NOREPLACE) == 0;
}

// Removes an entry if it would disturb Claude. Returns whether the user should be informed.
static bool clean_entry(int root, int directory, const char *name, struct arena *arena)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(status.st_mode))
		return false;
	if (!S_ISDIR(status.st_mode))
		return unlinkat(directory, name, 0) == 0;
	if (llabs((long long)time(NULL) - (long long)status.st_mtime) <= LOCK_AGE_S)
		return false; // a lock that may be in use
	if (unlinkat(directory, name, AT_REMOVEDIR) == 0)
		return false; // a lock of a process that was killed
	return discard_directory(root, directory, name, arena);
}

// Cleans a directory except for one name, and sets *ret_full if it has more entries than are read.
// Returns the number of removed entries to report.
static size_t clean_directory(int root, int directory, const char *except, bool *ret_full,
			      struct arena *arena)
{
	strings names = list_directory_up_to(arena, directory, ".", ENTRIES_MAX);
	size_t removed = 0;

	vec_each(name, &names) {
		if (!str_equal(*name, except))
			removed += clean_entry(root, directory, *name, arena);
	}
	*ret_full = names.count == ENTRIES_MAX;
	return removed;
}

// Replaces the store with a new directory that has only the credentials. Boxes open it by its path,
// so they use the new one from then on.
static bool replace_store(int root, int parent, int store, struct arena *arena)
{
	CLEANUP_FD int new = -1;

	if (!discard_directory(root, parent, CREDENTIALS_STORE, arena))
		return false;
	new = open_store(parent, arena);
	return new >= 0 &&
	       (renameat(store, CREDENTIALS_FILE, new, CREDENTIALS_FILE) == 0 || errno == ENOENT);
}

void credentials_clean_store(const struct plan *plan, int root, struct arena *arena)
{
	const char *shown = quote_display(arena, plan->state.credentials, 0);
	CLEANUP_FD int parent = open_parent(plan, arena);
	CLEANUP_FD int store = parent < 0 ? -1 : open_store(parent, arena);
	bool parent_full;
	bool store_full;
	size_t removed;

	if (store < 0)
		return;
	remove_temporaries(store);
	removed = clean_directory(root, parent, CREDENTIALS_STORE, &parent_full, arena);
	// The lock of the store itself, which many other entries could hide.
	if (parent_full)
		removed += clean_entry(root, parent, CREDENTIALS_STORE ".lock", arena);
	removed += clean_directory(root, store, CREDENTIALS_FILE, &store_full, arena);
	if (removed)
		output_message("claudebox",
			       "removed %zu unexpected entr%s from '%s', which all "
			       "boxes can write",
			       removed, removed == 1 ? "y" : "ies", shown);
	if (store_full && replace_store(root, parent, store, arena))
		output_message("claudebox",
			       "replaced '%s/" CREDENTIALS_STORE "', which all boxes can write: it "
			       "had more than %d entries; `claudebox --gc` removes the old one",
			       shown, ENTRIES_MAX - 1);
}
