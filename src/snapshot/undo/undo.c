// SPDX-License-Identifier: MIT
// Takes back what a session changed: the steps, their execution, and what a killed one left.
//
// Theory of operation: all files of the start that are needed are first written to a directory
// beside the snapshots, or of the project if that is another file system. So a full disk shows
// before anything has changed. Then a journal lists the steps. Each step moves the present file
// into the same directory and the wanted one to its place, by rename(2): no content is lost before
// the end, and a step that was interrupted can be done again. If a step fails, or the user
// interrupts, those before it are done backwards. After a kill, the next command completes what the
// journal lists. The journal stays until the undo is recorded as a session. References change
// between the two: while they do, the journal says that it is undecided, and a kill is rolled back.
// Directories are opened without following links, from the project down.
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
#include "snapshot/undo/progress.h"
#include "snapshot/undo/stage.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOURNAL_LIMIT = 256 * 1024 * 1024 };

// Returns the mode of the file that a step restores: that of the present one, or of the file at the
// start, with the executable bit of the start.
static mode_t wanted_mode(const struct stage *stage, const struct file_change *change)
{
	CLEANUP_FD int parent = stage_open_parent(stage, change->path, false);
	mode_t mode = modes_find(stage->modes, change->path);
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
	struct stage *stage;
	const file_changes *changes;
	const size_t *numbers; // of the steps, in the order of the objects
};

// Writes the file of a step to the stage.
static bool stage_file(void *context, size_t index, const char *content, size_t size,
		       struct error *error)
{
	const struct staging *staging = context;
	struct stage *stage = staging->stage;
	size_t number = staging->numbers[index];
	const struct file_change *change = &staging->changes->items[number];
	char name[STAGE_NAME_SIZE];
	CLEANUP_FD int fd = -1;

	if (refuse_interrupted(error))
		return false;
	progress_count(&stage->progress);
	stage_name(name, number, "new");
	if ((change->before.mode & GIT_MODE_TYPE) == GIT_MODE_SYMLINK)
		return symlinkat(arena_strndup(stage->arena, content, size), stage->directory,
				 name) == 0 ||
		       write_fail(error, "create", change->path);
	fd = create_file(stage->directory, name);
	return (fd >= 0 && write_all(fd, content, size) &&
		fchmod(fd, wanted_mode(stage, change)) == 0) ||
	       write_fail(error, "write", change->path);
}

// Writes the files of all steps that need one.
static bool stage_files(struct stage *stage, const file_changes *changes, struct error *error)
{
	size_t *numbers = arena_alloc(stage->arena, (changes->count + 1) * sizeof(*numbers));
	struct blob *blobs = arena_alloc(stage->arena, (changes->count + 1) * sizeof(*blobs));
	struct staging staging = { .stage = stage, .changes = changes, .numbers = numbers };
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++) {
		if (!changes->items[i].before.mode)
			continue;
		blobs[count].object = changes->items[i].before.object;
		numbers[count++] = i;
	}
	// Each file is taken away and put there too, or passed over.
	stage->progress = progress_begin(changes->count, count + 2 * changes->count);
	return changes_read_all(stage->store, blobs, count, stage_file, &staging, error);
}

// Moves the present file of a step to the stage. Done already: nothing.
static bool take_away(const struct stage *stage, const struct file_change *change, size_t number,
		      struct error *error)
{
	CLEANUP_FD int parent = stage_open_parent(stage, change->path, false);
	const char *name = path_name(change->path);
	char old[STAGE_NAME_SIZE], new[STAGE_NAME_SIZE];
	struct stat status;

	stage_name(old, number, "old");
	stage_name(new, number, "new");
	if (!change->after.mode || stage_has(stage->directory, old) ||
	    (change->before.mode && !stage_has(stage->directory, new)))
		return true;
	if (parent < 0 || fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? true
			       : write_fail(error, "move", change->path);
	if (S_ISDIR(status.st_mode))
		return error_set(error, "cannot move '%s': it is a directory now",
				 quote_display(error->arena, change->path, 0));
	if (renameat(parent, name, stage->directory, old) < 0)
		return write_fail(error, "move", change->path);
	if (!change->before.mode)
		stage_remove_parents(stage, change->path);
	return true;
}

// Moves the wanted file of a step to its place. Done already: nothing.
static bool put_there(const struct stage *stage, const struct file_change *change, size_t number,
		      struct error *error)
{
	CLEANUP_FD int parent = -1;
	char new[STAGE_NAME_SIZE];

	stage_name(new, number, "new");
	if (!change->before.mode || !stage_has(stage->directory, new))
		return true;
	parent = stage_open_parent(stage, change->path, true);
	if (parent >= 0)
		stage_remove_empty_tree(parent, path_name(change->path));
	if (parent >= 0 && renameat2(stage->directory, new, parent, path_name(change->path),
				     RENAME_NOREPLACE) == 0)
		return true;
	return write_fail(error, "restore", change->path);
}

// Does the steps backwards, as far as they were done.
static void roll_back(const struct stage *stage, const file_changes *changes)
{
	for (size_t i = changes->count; i-- > 0;) {
		const struct file_change *change = &changes->items[i];
		CLEANUP_FD int parent = stage_open_parent(stage, change->path, true);
		const char *name = path_name(change->path);
		char old[STAGE_NAME_SIZE], new[STAGE_NAME_SIZE];

		stage_name(old, i, "old");
		stage_name(new, i, "new");
		if (parent < 0)
			continue;
		if (change->before.mode && !stage_has(stage->directory, new) &&
		    renameat2(parent, name, stage->directory, new, RENAME_NOREPLACE) == 0)
			stage_remove_parents(stage, change->path);
	}
	for (size_t i = changes->count; i-- > 0;) {
		const struct file_change *change = &changes->items[i];
		CLEANUP_FD int parent = -1;
		char old[STAGE_NAME_SIZE];

		stage_name(old, i, "old");
		if (!stage_has(stage->directory, old))
			continue;
		parent = stage_open_parent(stage, change->path, true);
		if (parent >= 0)
			renameat2(stage->directory, old, parent, path_name(change->path),
				  RENAME_NOREPLACE);
	}
}

// Does all steps. Files are taken away first: one can be in the place of a directory.
static bool do_steps(struct stage *stage, const file_changes *changes, struct error *error)
{
	static bool (*const halves[])(const struct stage *, const struct file_change *, size_t,
				      struct error *) = { take_away, put_there };

	for (size_t half = 0; half < ARRAY_SIZE(halves); half++) {
		for (size_t i = 0; i < changes->count; i++) {
			progress_count(&stage->progress);
			if (refuse_interrupted(error) ||
			    !halves[half](stage, &changes->items[i], i, error))
				return false;
		}
	}
	return true;
}

// Completes or rolls back. Returns false with an error if the steps failed; nothing is then
// changed.
static bool execute(struct stage *stage, const file_changes *changes,
		    const struct undo_journal *journal, struct error *error)
{
	struct error ignored = { .arena = error->arena };
	file_changes none = { 0 };

	if (!do_steps(stage, changes, error)) {
		roll_back(stage, changes);
		stage_end(stage);
		return error_note(error, "nothing was changed");
	}
	// A journal without steps: they must not be done again when the user has gone on working.
	journal_write(stage->store, &none, journal, &ignored);
	stage_remove(stage);
	return true;
}

// Runs the middle part, and notes in the journal that it is done.
static bool run_middle(const struct stage *stage, const file_changes *changes,
		       struct undo_journal *journal, const struct undo_middle *middle,
		       struct error *error)
{
	if (!middle->run(middle->context, error))
		return false;
	journal->undecided = false;
	return journal_write(stage->store, changes, journal, error);
}

bool undo_apply(const struct store *store, const undo_steps *steps, struct undo_journal *journal,
		const struct undo_middle *middle, struct error *error)
{
	struct modes modes = modes_read(store, error->arena, journal->of);
	struct stage stage = STAGE_FOR(store, error->arena);
	file_changes changes = { 0 };
	bool ok;

	journal->undecided = middle != NULL;
	stage.modes = &modes;
	vec_each(step, steps) {
		if (step->obstacle == UNDO_POSSIBLE)
			vec_push(error->arena, &changes, step->change);
	}
	ok = stage_open(&stage, true, error);
	ok = ok && stage_files(&stage, &changes, error) && fsync(stage.directory) == 0 &&
	     journal_write(store, &changes, journal, error);
	ok = ok && (!middle || run_middle(&stage, &changes, journal, middle, error));
	if (ok)
		ok = execute(&stage, &changes, journal, error);
	else if (stage.directory >= 0)
		stage_end(&stage);
	if (!ok && !error->note)
		error_note(error, "nothing was changed");
	stage_close(&stage);
	return ok;
}

bool undo_is_pending(const struct store *store)
{
	return faccessat(store->directory, UNDO_JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool undo_recover(const struct store *store, struct undo_journal *ret_journal, struct error *error)
{
	struct stage stage = STAGE_FOR(store, error->arena);
	const char *text =
		file_read_at(error->arena, store->directory, UNDO_JOURNAL, JOURNAL_LIMIT);
	struct error ignored = { .arena = error->arena };
	file_changes changes = { 0 };
	bool ok = true;

	*ret_journal = (struct undo_journal){ 0 };
	if (text && !journal_parse(error->arena, text, ret_journal, &changes)) {
		*ret_journal = (struct undo_journal){ 0 };
		unlinkat(store->directory, UNDO_JOURNAL, 0);
		text = NULL;
	}
	// Without a stage, all steps are done, but not recorded.
	if (stage_open(&stage, false, &ignored)) {
		if (!text) // it was killed before it changed anything
			stage_end(&stage);
		else if (!ret_journal->undecided)
			ok = execute(&stage, &changes, ret_journal, error);
	}
	stage_close(&stage);
	return ok;
}

void undo_end(const struct store *store)
{
	struct arena arena = { 0 };
	struct error ignored = { .arena = &arena };
	struct stage stage = STAGE_FOR(store, &arena);

	unlinkat(store->directory, UNDO_JOURNAL, 0);
	if (stage_open(&stage, false, &ignored))
		stage_remove(&stage);
	stage_close(&stage);
	arena_free(&arena);
}
