// SPDX-License-Identifier: MIT
// Files that were judged by their content, and the processes that can still write to them.
//
// Theory of operation: a write through a mapping causes no event, and one through a descriptor only
// events for the file itself. So a descriptor of each judged file is kept. Whenever the file is
// opened, the guard takes a lease (F_SETLEASE) on it and releases it at once: the kernel refuses it
// if a process has the file open for writing or mapped for writing. Such a file is judged again
// every few milliseconds. A writer that stays for a second keeps the file, and the place gets a
// copy that this writer does not reach. The box itself cannot take leases (seccomp filter).
#include "guard/writers.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/config_file.h"
#include "guard/watcher.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WRITER_MS = 1000,
	MAX_FILES = 4096,
	OWN_FILES = 256, // descriptors that the guard itself needs
};

static void drop(struct judged_file **slot)
{
	struct judged_file *file = *slot;

	*slot = file->next;
	close(file->fd);
	free(file->path);
	free(file);
}

static struct judged_file **find(struct watcher *watcher, const char *path)
{
	struct judged_file **slot = &watcher->judged;

	while (*slot && strcmp((*slot)->path, path) != 0)
		slot = &(*slot)->next;
	return slot;
}

bool writers_has(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

static bool is_same(int fd, const struct stat *status)
{
	struct stat own;

	return fstat(fd, &own) == 0 && own.st_ino == status->st_ino && own.st_dev == status->st_dev;
}

void writers_prepare(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	if (files.rlim_cur < MAX_FILES + OWN_FILES)
		files.rlim_cur = files.rlim_max < MAX_FILES + OWN_FILES ? files.rlim_max
									: MAX_FILES + OWN_FILES;
	setrlimit(RLIMIT_NOFILE, &files);
}

// Returns whether another file can be kept. Descriptors are limited, and the guard needs some.
static bool has_room(const struct watcher *watcher)
{
	struct rlimit files;
	size_t count = 0;

	for (const struct judged_file *file = watcher->judged; file; file = file->next)
		count++;
	return count < MAX_FILES && getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	       count + OWN_FILES < files.rlim_cur;
}

bool writers_keep(struct watcher *watcher, int directory, const char *name, const char *path)
{
	struct judged_file **slot = find(watcher, path);
	struct judged_file *file;
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return true;
	if (*slot && !is_same((*slot)->fd, &status))
		drop(slot);
	else if (*slot)
		return true;
	if (!has_room(watcher)) {
		watcher->unkept = true;
		return false;
	}
	file = calloc(1, sizeof(*file));
	if (file) {
		file->path = strdup(path);
		file->fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	}
	if (!file || !file->path || file->fd < 0) {
		free(file ? file->path : NULL);
		free(file);
		watcher->unkept = true;
		return false;
	}
	file->next = watcher->judged;
	watcher->judged = file;
	writers_look(watcher, path);
	return true;
}

void writers_look(struct watcher *watcher, const char *path)
{
	struct judged_file **slot = find(watcher, path);
	struct stat status;

	if (!*slot)
		return;
	if (fstat((*slot)->fd, &status) < 0 || !status.st_nlink) {
		drop(slot);
		return;
	}
	if (!writers_has((*slot)->fd))
		(*slot)->writer_ms = 0;
	else if (!(*slot)->writer_ms)
		(*slot)->writer_ms = clock_monotonic_ms();
}

bool writers_exist(const struct watcher *watcher)
{
	for (const struct judged_file *file = watcher->judged; file; file = file->next)
		if (file->writer_ms)
			return true;
	return false;
}

// Returns the paths of the kept files, or of those with a writer: judging one changes the list.
static strings list_paths(const struct watcher *watcher, struct arena *arena, bool with_writer)
{
	strings paths = { 0 };

	for (const struct judged_file *file = watcher->judged; file; file = file->next)
		if (file->writer_ms || !with_writer)
			vec_push(arena, &paths, arena_strdup(arena, file->path));
	return paths;
}

void writers_examine(struct watcher *watcher)
{
	struct arena arena = { 0 };
	strings paths = list_paths(watcher, &arena, false);

	vec_each(path, &paths)
		examine_entry(watcher, path_parent(&arena, *path), path_name(*path));
	arena_free(&arena);
}

void writers_judge(struct watcher *watcher)
{
	struct arena arena = { 0 };
	int64_t now = clock_monotonic_ms();
	strings paths = list_paths(watcher, &arena, true);

	vec_each(path, &paths) {
		struct judged_file **slot = find(watcher, *path);

		if (*slot && (*slot)->writer_ms && now - (*slot)->writer_ms >= WRITER_MS) {
			file_detach(&arena, *path);
			drop(slot);
		} else {
			writers_look(watcher, *path);
		}
		examine_entry(watcher, path_parent(&arena, *path), path_name(*path));
	}
	arena_free(&arena);
}
