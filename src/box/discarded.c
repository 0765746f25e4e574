// SPDX-License-Identifier: MIT
// Looks at the files that were in the memory of the box when it ended.
//
// Theory of operation: /tmp, /var/tmp, /dev/shm and an empty home are in file systems in memory.
// The kernel frees them when nothing uses them any more. A descriptor of their directory, opened
// before the agent starts, keeps them until the report is made. By then no process of the box
// runs. A box can have made any number of files with any names, so the search is limited, opens
// directories only, follows no link and does not leave the file system.
#include "box/discarded.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/report/discarded.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 20000, MOST_DEPTH = 30, MOST_NAMED = 20 };

// A file, with what it is sorted by.
struct found {
	struct discarded_file file;
	struct timespec written;
	const char *place; // "/tmp"
};

struct search {
	struct arena *arena;
	const char *place;
	dev_t device;
	size_t entries;
	VEC(struct found) found;
	struct discarded *discarded;
};

// Returns whether the directory of the box at a path is in memory.
static bool is_in_memory(const struct plan *plan, const char *path)
{
	bool in_memory = false;

	vec_each(mount, &plan->mounts) {
		if (str_equal(mount->path, path) && mount->kind != MOUNT_SEAL)
			in_memory = mount->kind == MOUNT_EMPTY;
	}
	return in_memory;
}

// Returns whether the user has mounted something at a path.
static bool is_mounted(const struct plan *plan, const char *path)
{
	vec_each(mount, &plan->mounts) {
		if (str_equal(mount->path, path))
			return true;
	}
	return false;
}

void discarded_open(struct discarded_places *places, const struct plan *plan)
{
	// bwrap makes the directory in its file system of devices.
	if (!is_mounted(plan, "/dev/shm"))
		places->shared_memory = file_open(AT_FDCWD, "/dev/shm", O_RDONLY | O_DIRECTORY);
	if (is_in_memory(plan, "/var/tmp"))
		places->other_temporary = file_open(AT_FDCWD, "/var/tmp", O_RDONLY | O_DIRECTORY);
	if (is_in_memory(plan, "/tmp"))
		places->temporary = file_open(AT_FDCWD, "/tmp", O_RDONLY | O_DIRECTORY);
	if (is_in_memory(plan, plan->home))
		places->home = file_open(AT_FDCWD, plan->home, O_RDONLY | O_DIRECTORY);
}

static void search_directory(struct search *search, int parent, const char *name, const char *path,
			     size_t depth);

static void examine(struct search *search, int directory, const char *name, const char *path,
		    size_t depth)
{
	struct stat status;

	if (discarded_is_cache(name, depth) ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    status.st_dev != search->device)
		return;
	path = path_join(search->arena, path, name);
	if (S_ISDIR(status.st_mode))
		search_directory(search, directory, name, path, depth + 1);
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return;
	search->discarded->count++;
	search->discarded->size += (uint64_t)status.st_size;
	vec_push(search->arena, &search->found,
		 (struct found){ .file = { .path = path, .size = (uint64_t)status.st_size },
				 .written = status.st_mtim,
				 .place = search->place });
}

static void search_directory(struct search *search, int parent, const char *name, const char *path,
			     size_t depth)
{
	DIR *stream = depth < MOST_DEPTH ? open_directory_stream(parent, name) : NULL;
	const struct dirent *entry;

	if (!stream) {
		search->discarded->incomplete = true;
		return;
	}
	while ((entry = readdir(stream))) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (search->entries++ == MOST_ENTRIES) {
			search->discarded->incomplete = true;
			search->entries = MOST_ENTRIES;
			break;
		}
		examine(search, dirfd(stream), entry->d_name, path, depth);
	}
	closedir(stream);
}

static int compare(const void *a, const void *b)
{
	const struct found *first = a, *second = b;

	if (first->written.tv_sec != second->written.tv_sec)
		return first->written.tv_sec < second->written.tv_sec ? 1 : -1;
	if (first->written.tv_nsec != second->written.tv_nsec)
		return first->written.tv_nsec < second->written.tv_nsec ? 1 : -1;
	return strcmp(first->file.path, second->file.path);
}

static void search_place(struct search *search, int directory, const char *path)
{
	struct stat status;

	if (directory < 0 || fstat(directory, &status) < 0)
		return;
	search->device = status.st_dev;
	search->place = path;
	search_directory(search, directory, ".", path, 0);
}

// Returns the directory at the top of its place that has a file, NULL: the file is there itself.
static const char *top_directory(const struct search *search, const struct found *found)
{
	const char *below = found->file.path + strlen(found->place) + 1;
	const char *slash = strchr(below, '/');

	return slash ? arena_strndup(search->arena, found->file.path,
				     (size_t)(slash + 1 - found->file.path))
		     : NULL;
}

// Counts a file of a directory that is named. Returns false if it is not named.
static bool count_named(struct discarded *discarded, const char *directory)
{
	vec_each(name, &discarded->names) {
		if (name->directory && str_equal(name->directory, directory)) {
			name->path = directory;
			name->count++;
			return true;
		}
	}
	return false;
}

// Names the files at the top, or the directories there. One file stands for itself.
static void name_files(struct search *search, bool below)
{
	struct discarded *discarded = search->discarded;

	vec_each(found, &search->found) {
		const char *directory = top_directory(search, found);

		if ((directory != NULL) != below ||
		    (directory && count_named(discarded, directory)) ||
		    discarded->names.count >= MOST_NAMED)
			continue;
		vec_push(search->arena, &discarded->names,
			 (struct discarded_name){
				 .path = found->file.path, .directory = directory, .count = 1 });
	}
}

void discarded_read(const struct discarded_places *places, const struct plan *plan,
		    struct arena *arena, struct discarded *ret)
{
	struct search search = { .arena = arena, .discarded = ret };

	*ret = (struct discarded){ 0 };
	search_place(&search, places->temporary, "/tmp");
	search_place(&search, places->other_temporary, "/var/tmp");
	search_place(&search, places->shared_memory, "/dev/shm");
	search_place(&search, places->home, plan->home);
	if (search.found.count)
		qsort(search.found.items, search.found.count, sizeof(search.found.items[0]),
		      compare);
	vec_each(found, &search.found) {
		if (ret->files.count < MOST_NAMED)
			vec_push(arena, &ret->files, found->file);
	}
	name_files(&search, false);
	name_files(&search, true);
}

void discarded_close(struct discarded_places *places)
{
	cleanup_close(&places->temporary);
	cleanup_close(&places->home);
	*places = DISCARDED_PLACES_NONE;
}
