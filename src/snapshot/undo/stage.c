// SPDX-License-Identifier: MIT
#include "snapshot/undo/stage.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "snapshot/undo/journal.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE         "undo"
#define PROJECT_STAGE ".claudebox-undo"

const char *stage_name(char name[STAGE_NAME_SIZE], size_t number, const char *suffix)
{
	snprintf(name, STAGE_NAME_SIZE, "%zu.%s", number, suffix);
	return name;
}

int stage_open_parent(const struct stage *stage, const char *path, bool create)
{
	CLEANUP_FD int directory = dup(stage->project);
	const char *slash;
	struct stat status;

	for (; directory >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		const char *name = arena_strndup(stage->arena, path, (size_t)(slash - path));
		int next;

		if (create && mkdirat(directory, name, 0777) < 0 && errno != EEXIST)
			return -1;
		next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(directory);
		directory = next;
	}
	if (directory >= 0 && fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
	    (status.st_mode & S_IRWXU) != S_IRWXU)
		fchmod(directory, (status.st_mode & 07777) | S_IRWXU);
	return take_fd(&directory);
}

void stage_remove_parents(const struct stage *stage, const char *path)
{
	for (path = path_parent(stage->arena, path); !str_equal(path, "/") && *path;
	     path = path_parent(stage->arena, path)) {
		CLEANUP_FD int directory = stage_open_parent(stage, path, false);

		if (directory < 0 || unlinkat(directory, path_name(path), AT_REMOVEDIR) < 0)
			return;
		if (!strchr(path, '/'))
			return;
	}
}

bool stage_open(struct stage *stage, bool create, struct error *error)
{
	struct stat project, store;

	stage->project =
		open(stage->store->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (stage->project < 0 || fstat(stage->project, &project) < 0 ||
	    fstat(stage->store->directory, &store) < 0)
		return write_fail(error, "open", stage->store->project);
	stage->in_project = project.st_dev != store.st_dev;
	for (;;) {
		int parent = stage->in_project ? stage->project : stage->store->directory;
		const char *name = stage->in_project ? PROJECT_STAGE : STAGE;

		if (create && mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
			return write_fail(error, "create", name);
		stage->directory =
			openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (stage->directory >= 0 || stage->in_project || create)
			return stage->directory >= 0 || write_fail(error, "open", name);
		stage->in_project = true;
	}
}

void stage_remove(struct stage *stage)
{
	int parent = stage->in_project ? stage->project : stage->store->directory;
	struct error ignored = { .arena = stage->arena };

	remove_tree(parent, stage->in_project ? PROJECT_STAGE : STAGE, &ignored);
}

void stage_end(struct stage *stage)
{
	unlinkat(stage->store->directory, UNDO_JOURNAL, 0);
	stage_remove(stage);
}

void stage_close(struct stage *stage)
{
	cleanup_close(&stage->directory);
	cleanup_close(&stage->project);
}

bool stage_has(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

void stage_remove_empty_tree(int parent, const char *name)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(parent, name);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			stage_remove_empty_tree(dirfd(stream), entry->d_name);
	if (stream)
		unlinkat(parent, name, AT_REMOVEDIR);
}
