// SPDX-License-Identifier: MIT
// Searches directories: watches them, examines their entries, and queues the directories in them.
#include "guard/search.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/links.h"
#include "guard/known_places.h"
#include "guard/permissions.h"
#include "guard/rows.h"
#include "guard/watcher.h"
#include "guard/watches.h"
#include "plan/guard/places.h"
#include "plan/guard/targets.h"
#include "plan/plan.h"
#include "probe/git/tracked.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUIET_NS INT64_C(1000000000)

enum {
	ENTRIES_SIZE = 32 * 1024,
	MAX_DEPENDENCIES = 300000, // directories that are searched at the end
	MAX_NUMEROUS = 1000,       // watched directories of references and logs
};

// Returns whether an entry is one of dependencies, and no setting of git names a file in it.
static bool skips_dependencies(const struct watcher *watcher, const char *directory,
			       const char *name)
{
	const guard_targets *targets = &watcher->plan->guard.targets;
	const char *below = str_after(directory, watcher->plan->project);
	struct arena arena = { 0 };
	bool dependency = guard_is_dependency(name);

	if (watcher->dependencies)
		return false;
	// Directories of dependencies are searched only on the way to a file that a setting names.
	if (!dependency && below && targets->count) {
		dependency = guard_lies_in_dependencies(arena_printf(&arena, "%s/", below));
		arena_free(&arena);
	}
	return dependency && !guard_target_may_be(targets, directory, name);
}

bool search_skips(const struct watcher *watcher, const char *directory, const char *name)
{
	if (!path_lies_in_git(directory))
		return skips_dependencies(watcher, directory, name) &&
		       !git_below(watcher, directory);
	return git_has_objects(directory, name);
}

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

void search_list_parents(struct watcher *watcher)
{
	struct arena arena = { 0 }; // as long as the process

	vec_each(place, &watcher->plan->guard.places)
		vec_push(&arena, &watcher->parents, path_parent(&arena, place->path));
	known_list_planned(watcher, &arena);
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

void search_note_dependencies(struct watcher *watcher, const char *directory, const char *name)
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

// Returns whether a directory is one of the project's git directories, or leads to one. They are
// searched before all others.
static bool is_urgent(const struct watcher *watcher, const char *path)
{
	if (watcher->told_ready || !path_lies_in_git(path))
		return false;
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (path_within(*directory, path))
			return true;
	}
	return false;
}

static void queue_directory(struct watcher *watcher, const char *path)
{
	bool moved_in = watcher->search->moved_in;

	if (is_urgent(watcher, path))
		watches_queue_urgent(&watcher->watches, path, moved_in);
	else
		watches_queue(&watcher->watches, path, moved_in);
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
	if (type != DT_DIR && type != DT_REG)
		examine_link(watcher, path, name);
	if (type == DT_DIR && guard_is_dependency(name))
		search_note_dependencies(watcher, path, name);
	if ((type == DT_DIR || type == DT_UNKNOWN) && !search_skips(watcher, path, name))
		queue_directory(watcher, path_join(&arena, path, name));
	arena_free(&arena);
}

int search_open(struct watcher *watcher, const char *path)
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

// Watches an open directory. Not one of packs, and of those of references and logs only a limited
// number: the search at the end finds what is created in the others.
static void watch(struct watcher *watcher, int fd, const char *path, bool *ret_new)
{
	struct watches *watches = &watcher->watches;
	enum watch_kind kind = WATCH_DIRECTORY;

	*ret_new = false;
	if (str_ends(path, "/objects/pack") && path_lies_in_git(path))
		return;
	if (has_places(watcher, path))
		kind = WATCH_PLACES;
	else if (git_is_numerous(watcher, path))
		kind = WATCH_NUMEROUS;
	if (kind != WATCH_NUMEROUS || watches->numerous_count < MAX_NUMEROUS)
		watches_add(watches, fd, path, kind, ret_new);
}

void search_directory(struct watcher *watcher, const char *path, bool moved_in)
{
	_Alignas(struct dirent64) static char buffer[ENTRIES_SIZE];
	CLEANUP_FD int fd = search_open(watcher, path);
	struct search search = { .directory = path, .fd = fd, .outer = watcher->search };
	ssize_t length;
	bool added;

	if (fd < 0)
		return;
	watch(watcher, fd, path, &added);
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

void search_queue_tops(struct watcher *watcher)
{
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (!path_within(*directory, watcher->plan->project))
			watches_queue(&watcher->watches, *directory, false);
	}
	watches_queue(&watcher->watches, watcher->plan->project, false);
}

// Returns whether the index of a git directory is the one that was read for the plan. A file that
// was changed in the last second before the start may have changed again with the same time.
static bool is_planned_index(const struct watcher *watcher, const char *git_directory)
{
	const struct plan_guard *guard = &watcher->plan->guard;
	struct arena arena = { 0 };
	struct stat status;
	bool same = guard->index.id.inode && guard->git_directory &&
		    str_equal(guard->git_directory, git_directory) &&
		    lstat(path_join(&arena, git_directory, "index"), &status) == 0 &&
		    status.st_dev == guard->index.id.device &&
		    status.st_ino == guard->index.id.inode && status.st_size == guard->index.size &&
		    clock_ns(&status.st_ctim) == guard->index.change_ns;

	arena_free(&arena);
	return same && clock_ns(&watcher->start) > guard->index.change_ns + QUIET_NS;
}

void search_check_index(struct watcher *watcher, const char *git_directory)
{
	struct tracked tracked = { 0 };

	if (watcher->dependencies)
		return;
	if (is_planned_index(watcher, git_directory)) {
		watcher->dependencies = watcher->plan->guard.index.hides;
	} else {
		tracked = tracked_open(git_directory);
		watcher->dependencies = tracked_any(&tracked, guard_is_hidden_repository);
		tracked_close(&tracked);
	}
	if (watcher->dependencies)
		search_queue_tops(watcher);
}

bool search_next(struct watcher *watcher)
{
	struct waiting waiting;

	if (!watches_next(&watcher->watches, &waiting))
		return false;
	search_directory(watcher, waiting.path, waiting.moved_in);
	free(waiting.path);
	return true;
}

void search_dependencies(struct watcher *watcher)
{
	_Alignas(struct dirent64) static char buffer[ENTRIES_SIZE];
	struct watches queue = { 0 };
	struct waiting waiting;
	size_t count = 0;

	for (size_t i = 0; i < watcher->dependency_count; i++)
		watches_queue(&queue, watcher->dependency_paths[i], false);
	while (watches_next(&queue, &waiting)) {
		CLEANUP_FD int fd = search_open(watcher, waiting.path);
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
