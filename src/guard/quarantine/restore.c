// SPDX-License-Identifier: MIT
// Puts an item of the quarantine back to its place.
//
// Theory of operation: the directory of the place is opened without following a link, and the item
// is renamed to a name that must be free. A configuration whose place kept a harmless version is
// not: its refused settings are written into the file that is there, under git's lock, and then the
// item is removed (settings.c). A record without an item is what a kill between two steps leaves;
// the next command removes it. A kill before the item is removed leaves the item, and the next
// command finds that its settings are there.
#include "guard/quarantine/restore.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "guard/git/config_file.h"
#include "guard/quarantine/inspect.h"
#include "guard/quarantine/move.h"
#include "guard/quarantine/quarantine.h"
#include "guard/quarantine/settings.h"
#include "plan/state/instances.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const struct quarantined *item, const char *reason, struct error *error)
{
	return error_set(error, "cannot put back '%s': %s",
			 quote_display(error->arena, item->path, 0), reason);
}

static bool fail_by_errno(const struct quarantined *item, struct error *error)
{
	fail(item, strerror(errno), error);
	return error_hint(error, "the item is still in the quarantine");
}

// Opens a directory. Creates it if it is missing in the project: the guard removes directories of
// the box that its moves have left empty. Returns -1 with errno.
static int open_or_create(struct arena *arena, const char *project, const char *path)
{
	int directory = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int above = -1;

	if (directory >= 0 || errno != ENOENT || !path_within(path, project) ||
	    str_equal(path, project))
		return directory;
	above = open_or_create(arena, project, path_parent(arena, path));
	if (above < 0 || (mkdirat(above, path_name(path), 0777) < 0 && errno != EEXIST))
		return -1;
	return file_open(above, path_name(path), O_RDONLY | O_DIRECTORY);
}

// Opens the directory of the place. Returns -1 with an error.
static int open_place(const char *project, const struct quarantined *item, struct error *error)
{
	const char *obstacle = inspect_obstacle(error->arena, project, item->path);
	int place = -1;

	if (!obstacle)
		place = open_or_create(error->arena, project,
				       path_parent(error->arena, item->path));
	if (place >= 0)
		return place;
	fail(item, obstacle ? obstacle : strerror(errno), error);
	error_hint(error, "create the directory that it was in, then try again");
	return -1;
}

// Stores whether the place has a file. Returns false with an error if that may not be replaced.
static bool check_taken(int place, const struct quarantined *item, bool *ret_taken,
			struct error *error)
{
	struct stat status;

	*ret_taken = fstatat(place, path_name(item->path), &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*ret_taken || (item->copied && S_ISREG(status.st_mode)))
		return true;
	fail(item, "another file is at its place", error);
	return error_hint(error, "rename that file, or move it away");
}

// Says why the settings of an item cannot be put back.
static bool fail_settings(const struct quarantined *item, const char *problem, struct error *error)
{
	fail(item, problem, error);
	return error_hint(error, "the item is still in the quarantine: `claudebox --quarantine` "
				 "shows where");
}

bool restore_check(int quarantine, const char *project, const struct quarantined *item,
		   struct error *error)
{
	const char *parent = path_parent(error->arena, item->path);
	CLEANUP_FD int place = -1, directory = -1;
	struct settings_change change;
	const char *problem;
	struct stat status;
	bool taken;

	// It is created when the item is put back.
	if (!inspect_obstacle(error->arena, project, item->path) && lstat(parent, &status) < 0 &&
	    errno == ENOENT)
		return true;
	place = open_place(project, item, error);
	if (place < 0 || !check_taken(place, item, &taken, error))
		return false;
	if (!taken)
		return true;
	directory = file_open(quarantine, item->id, O_RDONLY | O_DIRECTORY);
	problem = settings_compare(error->arena, project, item, directory, place, &change);
	return !problem || fail_settings(item, problem, error);
}

// Removes the directory of an item that is back at its place.
static void discard(int quarantine, const char *id, struct arena *arena)
{
	struct error error = { .arena = arena };

	remove_tree(quarantine, id, &error); // a rest without an item is not listed
}

static bool move_back(int quarantine, const char *id, int place, const char *name,
		      struct arena *arena)
{
	CLEANUP_FD int directory = file_open(quarantine, id, O_RDONLY | O_DIRECTORY);

	if (directory < 0 || !move_entry(directory, QUARANTINE_ITEM, place, name, arena))
		return false;
	discard(quarantine, id, arena);
	return true;
}

// Adds the settings of an item to the file at its place, and removes the item.
static bool add_settings(int quarantine, const char *project, const struct quarantined *item,
			 int place, size_t *ret_count, struct error *error)
{
	CLEANUP_FD int directory = file_open(quarantine, item->id, O_RDONLY | O_DIRECTORY);
	const char *name = path_name(item->path);
	CLEANUP_FD int lock = directory < 0 ? -1 : git_config_lock(place, name);
	struct settings_change change;
	const char *problem;

	if (lock < 0) {
		if (errno != EEXIST)
			return fail_by_errno(item, error);
		fail(item, arena_printf(error->arena, "'%s.lock' exists", name), error);
		return error_hint(error, "end the git command that writes it, or remove the file");
	}
	problem = settings_compare(error->arena, project, item, directory, place, &change);
	if (!git_config_write(place, name, lock, problem || !change.count ? NULL : change.text,
			      change.mode))
		return fail_by_errno(item, error);
	if (problem)
		return fail_settings(item, problem, error);
	*ret_count = change.count;
	// First: an item without a record is not listed, and would stay.
	if (unlinkat(directory, QUARANTINE_ITEM, 0) < 0)
		return fail_by_errno(item, error);
	discard(quarantine, item->id, error->arena);
	return true;
}

bool restore_item(int quarantine, const char *project, const struct quarantined *item,
		  struct restored *ret, struct error *error)
{
	CLEANUP_FD int place = open_place(project, item, error);

	*ret = (struct restored){ 0 };
	if (place < 0 || !check_taken(place, item, &ret->in_part, error))
		return false;
	if (ret->in_part)
		return add_settings(quarantine, project, item, place, &ret->settings, error);
	return move_back(quarantine, item->id, place, path_name(item->path), error->arena) ||
	       fail_by_errno(item, error);
}
