// SPDX-License-Identifier: MIT
// Finds out which changes of a session can be taken back.
#include "snapshot/undo/plan.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/report/change.h"
#include "snapshot/changes.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *const undo_obstacle_names[UNDO_OBSTACLE_COUNT] = {
	[UNDO_POSSIBLE] = "is restored",
	[UNDO_DONE] = "is already as before the session",
	[UNDO_CHANGED] = "was changed since the end of the session",
	[UNDO_OLDER] = "is older than the session, and was not saved",
	[UNDO_BLOCKED] = "has another file in its way",
};

static bool version_equal(const struct file_version *a, const struct file_version *b)
{
	return a->mode == b->mode && (!a->mode || str_equal(a->object, b->object));
}

static const struct file_change *find_change(const file_changes *changes, const char *path)
{
	size_t low = 0, high = changes->count;

	while (low < high) { // git sorts paths by their bytes
		size_t middle = (low + high) / 2;
		int order = strcmp(changes->items[middle].path, path);

		if (order == 0)
			return &changes->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

// Finds a step by its path.
static const struct undo_step *find_step(const undo_steps *steps, const char *path)
{
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(steps->items[middle].change.path, path);

		if (order == 0)
			return &steps->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

// Returns whether an undo moves the file at a path away.
static bool is_moved_away(const undo_steps *steps, const char *path)
{
	const struct undo_step *step = find_step(steps, path);

	return step && step->obstacle == UNDO_POSSIBLE && step->change.after.mode;
}

// Returns whether a directory has a file that an undo does not move away.
static bool has_other_files(const struct store *store, const undo_steps *steps, const char *path,
			    struct arena *arena)
{
	const char *directory = path_join(arena, store->project, path);
	CLEANUP_DIR DIR *stream = open_directory_stream(AT_FDCWD, directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		const char *below = arena_printf(arena, "%s/%s", path, entry->d_name);
		struct stat status;

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..") ||
		    fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(status.st_mode) ? has_other_files(store, steps, below, arena)
					    : !is_moved_away(steps, below))
			return true;
	}
	return false;
}

// Returns whether something is in the way of a file that an undo creates: at its path, or in the
// place of a directory above.
static bool is_blocked(const struct store *store, const undo_steps *steps, const char *path,
		       struct arena *arena)
{
	struct stat status;

	// From the project down: behind a file or link that is moved away, nothing is in the way.
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *above = arena_strndup(arena, path, (size_t)(slash - path));

		if (lstat(path_join(arena, store->project, above), &status) < 0)
			return false;
		if (!S_ISDIR(status.st_mode))
			return !is_moved_away(steps, above);
	}
	return lstat(path_join(arena, store->project, path), &status) == 0 &&
	       (S_ISDIR(status.st_mode) ? has_other_files(store, steps, path, arena)
					: !is_moved_away(steps, path));
}

static enum undo_obstacle judge(const struct store *store, const struct file_change *change,
				const file_changes *since, struct known_files *known,
				struct arena *arena)
{
	const struct file_change *later = find_change(since, change->path);

	if (later)
		return version_equal(&later->after, &change->before) ? UNDO_DONE : UNDO_CHANGED;
	return changes_is_older(known, store, arena, change) ? UNDO_OLDER : UNDO_POSSIBLE;
}

bool undo_plan(const struct store *store, const file_changes *changes, const char *after,
	       const char *now, struct known_files *known, undo_steps *ret_steps,
	       struct error *error)
{
	file_changes since = { 0 };

	*ret_steps = (undo_steps){ 0 };
	if (!changes_list(store, after, now, NULL, &since, error))
		return false;
	vec_each(change, changes)
		vec_push(error->arena, ret_steps,
			 (struct undo_step){
				 .change = *change,
				 .obstacle = judge(store, change, &since, known, error->arena) });
	vec_each(step, ret_steps) {
		if (step->obstacle == UNDO_POSSIBLE && step->change.before.mode &&
		    is_blocked(store, ret_steps, step->change.path, error->arena))
			step->obstacle = UNDO_BLOCKED;
	}
	return true;
}
