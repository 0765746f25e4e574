// SPDX-License-Identifier: MIT
// Takes back what a session changed: the steps, their execution, and what a killed one left.
//
// Theory of operation: all files of the start that are needed are first written to a directory
// beside the snapshots, or of the project if that is another file system. So a full disk shows
// before anything has changed. Then a journal lists the steps. Each step moves the present file
// into the same directory and the wanted one to its place, by rename(2): no content is lost before
// the end, and a step that was interrupted can be done again. If a step fails, or the user
// interrupts, those before it are done backwards. After a kill, the next command completes what the
// journal lists. Directories are opened without following links, from the project down.
#include "snapshot/undo/undo.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "plan/report/change.h"
#include "snapshot/changes.h"
#include "snapshot/take/modes.h"
#include "snapshot/store.h"
#include "snapshot/undo/interrupt.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE         "undo"
#define PROJECT_STAGE ".claudebox-undo"

enum {
	JOURNAL_LIMIT = 256 * 1024 * 1024,
	NAME_SIZE = 32,
};

// The directories of an undo.
struct work {
	const struct store *store;
	const struct modes *modes; // of the files at the start
	struct arena *arena;
	int project;
	int stage; // has the file NUMBER.new of each step, and NUMBER.old of those that are done
	bool in_project;
};

static const char *stage_name(char name[NAME_SIZE], size_t number, const char *suffix)
{
	snprintf(name, NAME_SIZE, "%zu.%s", number, suffix);
	return name;
}

// Opens the directory of a path in the project, and lets its owner write it. Follows no link.
// Creates missing directories if `create`. Returns -1 with errno.
static int open_parent(const struct work *work, const char *path, bool create)
{
	CLEANUP_FD int directory = dup(work->project);
	const char *slash;
	struct stat status;

	for (; directory >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		const char *name = arena_strndup(work->arena, path, (size_t)(slash - path));
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

// Removes the directories of a path that are empty.
static void remove_empty_parents(const struct work *work, const char *path)
{
	for (path = path_parent(work->arena, path); !str_equal(path, "/") && *path;
	     path = path_parent(work->arena, path)) {
		CLEANUP_FD int directory = open_parent(work, path, false);

		if (directory < 0 || unlinkat(directory, path_name(path), AT_REMOVEDIR) < 0)
			return;
		if (!strchr(path, '/'))
			return;
	}
}

// Opens the directory for the files of an undo: on the file system of the project, so that
// rename(2) works.
static bool open_stage(struct work *work, bool create, struct error *error)
{
	struct stat project, store;

	work->project = open(work->store->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (work->project < 0 || fstat(work->project, &project) < 0 ||
	    fstat(work->store->directory, &store) < 0)
		return write_fail(error, "open", work->store->project);
	work->in_project = project.st_dev != store.st_dev;
	for (;;) {
		int parent = work->in_project ? work->project : work->store->directory;
		const char *name = work->in_project ? PROJECT_STAGE : STAGE;

		if (create && mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
			return write_fail(error, "create", name);
		work->stage = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (work->stage >= 0 || work->in_project || create)
			return work->stage >= 0 || write_fail(error, "open", name);
		work->in_project = true;
	}
}

static bool end_work(struct work *work, struct error *error)
{
	int parent = work->in_project ? work->project : work->store->directory;
	bool ok = remove_tree(parent, work->in_project ? PROJECT_STAGE : STAGE, error);

	unlinkat(work->store->directory, UNDO_JOURNAL, 0);
	return ok;
}

static void close_work(struct work *work)
{
	cleanup_close(&work->stage);
	cleanup_close(&work->project);
}

// Returns the mode of the file that a step restores: that of the present one, or of the file at the
// start, with the executable bit of the start.
static mode_t wanted_mode(const struct work *work, const struct file_change *change)
{
	CLEANUP_FD int parent = open_parent(work, change->path, false);
	mode_t mode = modes_find(work->modes, change->path);
	struct stat status;

	if (parent >= 0 &&
	    fstatat(parent, path_name(change->path), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode))
		mode = status.st_mode & 0777;
	return change->before.mode & 0100 ? mode | (mode & 0444) >> 2 : mode & ~(mode_t)0111;
}

// Returns whether the user has interrupted the undo, with the error.
static bool refuse_interrupted(struct error *error)
{
	if (!interrupt_is_pending())
		return false;
	error_set(error, "the undo was interrupted");
	error_hint(error, "start claudebox --undo again");
	return true;
}

// What is written to the stage.
struct staging {
	const struct work *work;
	const file_changes *changes;
	const size_t *numbers; // of the steps, in the order of the objects
};

// Writes the file of a step to the stage.
static bool stage_file(void *context, size_t index, const char *content, size_t size,
		       struct error *error)
{
	const struct staging *staging = context;
	const struct work *work = staging->work;
	size_t number = staging->numbers[index];
	const struct file_change *change = &staging->changes->items[number];
	char name[NAME_SIZE];
	CLEANUP_FD int fd = -1;

	if (refuse_interrupted(error))
		return false;
	stage_name(name, number, "new");
	if ((change->before.mode & GIT_MODE_TYPE) == GIT_MODE_SYMLINK)
		return symlinkat(arena_strndup(work->arena, content, size), work->stage, name) ==
			       0 ||
		       write_fail(error, "create", change->path);
	fd = create_file(work->stage, name);
	return (fd >= 0 && write_all(fd, content, size) &&
		fchmod(fd, wanted_mode(work, change)) == 0) ||
	       write_fail(error, "write", change->path);
}

// Writes the files of all steps that need one.
static bool stage_files(const struct work *work, const file_changes *changes, struct error *error)
{
	size_t *numbers = arena_alloc(work->arena, (changes->count + 1) * sizeof(*numbers));
	struct blob *blobs = arena_alloc(work->arena, (changes->count + 1) * sizeof(*blobs));
	struct staging staging = { .work = work, .changes = changes, .numbers = numbers };
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++) {
		if (!changes->items[i].before.mode)
			continue;
		blobs[count].object = changes->items[i].before.object;
		numbers[count++] = i;
	}
	return changes_read_all(work->store, blobs, count, stage_file, &staging, error);
}

static bool exists(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// Moves the present file of a step to the stage. Done already: nothing.
static bool take_away(const struct work *work, const struct file_change *change, size_t number,
		      struct error *error)
{
	CLEANUP_FD int parent = open_parent(work, change->path, false);
	const char *name = path_name(change->path);
	char old[NAME_SIZE], new[NAME_SIZE];
	struct stat status;

	stage_name(old, number, "old");
	stage_name(new, number, "new");
	if (!change->after.mode || exists(work->stage, old) ||
	    (change->before.mode && !exists(work->stage, new)))
		return true;
	if (parent < 0 || fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? true
			       : write_fail(error, "move", change->path);
	if (S_ISDIR(status.st_mode))
		return error_set(error, "cannot move '%s': it is a directory now",
				 quote_display(error->arena, change->path, 0));
	if (renameat(parent, name, work->stage, old) < 0)
		return write_fail(error, "move", change->path);
	if (!change->before.mode)
		remove_empty_parents(work, change->path);
	return true;
}

// Removes a directory that has nothing but empty directories in it.
static void remove_empty_tree(int parent, const char *name)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(parent, name);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			remove_empty_tree(dirfd(stream), entry->d_name);
	if (stream)
		unlinkat(parent, name, AT_REMOVEDIR);
}

// Moves the wanted file of a step to its place. Done already: nothing.
static bool put_there(const struct work *work, const struct file_change *change, size_t number,
		      struct error *error)
{
	CLEANUP_FD int parent = -1;
	char new[NAME_SIZE];

	stage_name(new, number, "new");
	if (!change->before.mode || !exists(work->stage, new))
		return true;
	parent = open_parent(work, change->path, true);
	if (parent >= 0)
		remove_empty_tree(parent, path_name(change->path));
	if (parent >= 0 &&
	    renameat2(work->stage, new, parent, path_name(change->path), RENAME_NOREPLACE) == 0)
		return true;
	return write_fail(error, "restore", change->path);
}

// Does the steps backwards, as far as they were done.
static void roll_back(const struct work *work, const file_changes *changes)
{
	for (size_t i = changes->count; i-- > 0;) {
		const struct file_change *change = &changes->items[i];
		CLEANUP_FD int parent = open_parent(work, change->path, true);
		const char *name = path_name(change->path);
		char old[NAME_SIZE], new[NAME_SIZE];

		stage_name(old, i, "old");
		stage_name(new, i, "new");
		if (parent < 0)
			continue;
		if (change->before.mode && !exists(work->stage, new) &&
		    renameat2(parent, name, work->stage, new, RENAME_NOREPLACE) == 0)
			remove_empty_parents(work, change->path);
	}
	for (size_t i = changes->count; i-- > 0;) {
		const struct file_change *change = &changes->items[i];
		CLEANUP_FD int parent = -1;
		char old[NAME_SIZE];

		stage_name(old, i, "old");
		if (!exists(work->stage, old))
			continue;
		parent = open_parent(work, change->path, true);
		if (parent >= 0)
			renameat2(work->stage, old, parent, path_name(change->path),
				  RENAME_NOREPLACE);
	}
}

// Does all steps. Files are taken away first: one can be in the place of a directory.
static bool do_steps(const struct work *work, const file_changes *changes, struct error *error)
{
	for (size_t i = 0; i < changes->count; i++)
		if (refuse_interrupted(error) || !take_away(work, &changes->items[i], i, error))
			return false;
	for (size_t i = 0; i < changes->count; i++)
		if (refuse_interrupted(error) || !put_there(work, &changes->items[i], i, error))
			return false;
	return true;
}

// Completes or rolls back. Returns false with an error if the steps failed; nothing is then
// changed.
static bool execute(struct work *work, const file_changes *changes, struct error *error)
{
	struct error ignored = { .arena = error->arena };

	if (!do_steps(work, changes, error)) {
		roll_back(work, changes);
		end_work(work, &ignored);
		return error_note(error, "nothing was changed");
	}
	return end_work(work, error);
}

bool undo_apply(const struct store *store, const undo_steps *steps,
		const struct undo_journal *journal, struct error *error)
{
	struct modes modes = modes_read(store, error->arena, journal->of);
	struct work work = {
		.store = store, .modes = &modes, .arena = error->arena, .project = -1, .stage = -1
	};
	struct error ignored = { .arena = error->arena };
	file_changes changes = { 0 };
	bool ok;

	vec_each(step, steps) {
		if (step->obstacle == UNDO_POSSIBLE)
			vec_push(error->arena, &changes, step->change);
	}
	ok = open_stage(&work, true, error);
	ok = ok && stage_files(&work, &changes, error) && fsync(work.stage) == 0 &&
	     journal_write(store, &changes, journal, error);
	if (ok)
		ok = execute(&work, &changes, error);
	else if (work.stage >= 0)
		end_work(&work, &ignored);
	if (!ok && !error->note)
		error_note(error, "nothing was changed");
	close_work(&work);
	return ok;
}

bool undo_recover(const struct store *store, struct undo_journal *ret_journal, struct error *error)
{
	struct work work = { .store = store, .arena = error->arena, .project = -1, .stage = -1 };
	const char *text =
		file_read_at(error->arena, store->directory, UNDO_JOURNAL, JOURNAL_LIMIT);
	struct error ignored = { .arena = error->arena };
	file_changes changes = { 0 };
	bool ok = true;

	*ret_journal = (struct undo_journal){ 0 };
	if (!open_stage(&work, false, &ignored)) {
		if (text)
			unlinkat(store->directory, UNDO_JOURNAL, 0);
		close_work(&work);
		return true;
	}
	if (text && journal_parse(error->arena, text, ret_journal, &changes))
		ok = execute(&work, &changes, error);
	else // it was killed before it changed anything
		end_work(&work, &ignored);
	close_work(&work);
	return ok;
}
