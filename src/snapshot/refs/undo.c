// SPDX-License-Identifier: MIT
// Takes back what a session changed in the project's repository: references, HEAD and the index.
//
// Theory of operation: references, HEAD and index are restored together, or not at all: the new
// index is written under git's lock first, then the references change in transactions of git that
// compare the old values, then HEAD, and at last the index is renamed. If a step fails, those
// before it are done backwards.
#include "snapshot/refs/undo.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/project_index.h"
#include "snapshot/refs/refs.h"
#include "snapshot/session.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REASON "claudebox --undo"

static bool write_refs(int session, const char *name, const git_refs *refs, struct error *error)
{
	JSON_OWNED *object = refs_render(refs);

	return replace_file(session, name, json_write(error->arena, object, 0), error);
}

bool refs_save(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct error *error)
{
	const char *name = arena_printf(error->arena, "sessions/%s", id);
	CLEANUP_FD int session = -1;

	if (mkdirat(store->directory, name, 0700) < 0)
		return write_fail(error, "create", name);
	session = file_open(store->directory, name, O_RDONLY | O_DIRECTORY);
	if (session < 0)
		return write_fail(error, "open", name);
	return write_refs(session, "refs.json", &undo->present, error) &&
	       write_refs(session, "operations.json", &undo->operations, error) &&
	       project_index_copy(session, undo->git_directory, error);
}

static bool set_head(const struct store *store, const char *git_directory, const char *value,
		     struct error *error)
{
	const char *branch = str_after(value, "ref: ");
	const char *symbolic[] = { REFS_SAFE, "symbolic-ref", "-m", REASON, "HEAD", branch, NULL };
	const char *detached[] = { REFS_SAFE, "update-ref", "--no-deref", "-m",
				   REASON,    "HEAD",       value,        NULL };
	struct git_run run = { .arguments = branch ? symbolic : detached,
			       .git_directory = git_directory };

	return git_run(store, error->arena, &run) || git_fail(&run, "restore HEAD", error);
}

static bool change_refs(const struct store *store, const struct refs_undo *undo,
			const struct text *commands, struct error *error)
{
	static const char *const arguments[] = { REFS_SAFE, "update-ref", "--no-deref", "-m",
						 REASON,    "--stdin",    NULL };
	struct git_run run = { .arguments = arguments,
			       .git_directory = undo->git_directory,
			       .input = text_get(commands),
			       .input_length = commands->length };

	return !commands->length || git_run(store, error->arena, &run) ||
	       git_fail(&run, "restore the branches and tags", error);
}

// Adds the command that changes a reference: one that deletes to the first transaction, because a
// branch "a" can be in the way of "a/b".
static void add_command(struct text commands[2], const char *name, const char *from, const char *to)
{
	if (!to)
		text_printf(&commands[0], "delete %s %s\n", name, from);
	else if (from)
		text_printf(&commands[1], "update %s %s %s\n", name, to, from);
	else
		text_printf(&commands[1], "create %s %s\n", name, to);
}

// Restores the references that have changed on the way from the plan to a failure.
static void put_back(const struct store *store, const struct refs_undo *undo, struct arena *arena)
{
	git_refs now = refs_list(store, arena, undo->git_directory);
	struct text commands[2] = { { .arena = arena }, { .arena = arena } };
	struct error ignored = { .arena = arena };

	vec_each(step, &undo->steps) {
		const char *value = refs_value(&now, step->name);

		if (step->why || str_equal(value, step->from) || !str_equal(value, step->to))
			continue;
		if (str_equal(step->name, "HEAD"))
			set_head(store, undo->git_directory, step->from, &ignored);
		else
			add_command(commands, step->name, step->to, step->from);
	}
	change_refs(store, undo, &commands[0], &ignored);
	change_refs(store, undo, &commands[1], &ignored);
}

static bool run_steps(const struct store *store, const struct refs_undo *undo, const char *id,
		      struct error *error)
{
	struct arena *arena = error->arena;
	struct text commands[2] = { { .arena = arena }, { .arena = arena } };
	const char *head = NULL;

	vec_each(step, &undo->steps) {
		if (step->why)
			continue;
		if (step->from && refs_is_object(step->from))
			text_printf(&commands[0], "update " REFS_KEPT "%s/%s %s\n", id,
				    str_starts(step->name, "refs/") ? step->name + strlen("refs/")
								    : step->name,
				    step->from);
		if (str_equal(step->name, "HEAD"))
			head = step->to;
		else
			add_command(commands, step->name, step->from, step->to);
	}
	if (change_refs(store, undo, &commands[0], error) &&
	    change_refs(store, undo, &commands[1], error) &&
	    (!head || set_head(store, undo->git_directory, head, error)))
		return true;
	put_back(store, undo, arena);
	return false;
}

bool refs_undo(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct error *error)
{
	struct project_index index = PROJECT_INDEX_NONE;
	const char *session = refs_session_path(error->arena, undo->store, undo->record->id);
	bool ok = !undo->index ||
		  project_index_prepare(&index, undo->git_directory, session, error);

	ok = ok && run_steps(store, undo, id, error);
	if (ok && !project_index_replace(&index, error)) {
		put_back(store, undo, error->arena);
		ok = false;
	}
	if (!ok)
		project_index_cancel(&index);
	return ok;
}

void refs_redo(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct arena *arena)
{
	struct project_index index = PROJECT_INDEX_NONE;
	struct error ignored = { .arena = arena };

	put_back(store, undo, arena);
	if (undo->index &&
	    project_index_prepare(&index, undo->git_directory,
				  refs_session_path(arena, undo->store, id), &ignored) &&
	    !project_index_replace(&index, &ignored))
		project_index_cancel(&index);
}

// Adds a step for each reference that an undo of `of` changes or creates from the saved ones.
static void list_steps(struct refs_undo *undo, const git_refs *saved,
		       const struct session_record *of, struct arena *arena)
{
	vec_each(ref, saved) {
		const char *to = refs_value(&of->refs_before, ref->name);

		if (refs_is_restored(ref->name) && !str_equal(ref->value, to))
			vec_push(arena, &undo->steps,
				 (struct refs_step){
					 .name = ref->name, .from = ref->value, .to = to });
	}
	vec_each(ref, &of->refs_before) {
		if (refs_is_restored(ref->name) && !refs_value(saved, ref->name))
			vec_push(arena, &undo->steps,
				 (struct refs_step){ .name = ref->name, .to = ref->value });
	}
}

void refs_roll_back(const struct store *store, const char *git_directory, const char *id,
		    const struct session_record *of, struct arena *arena)
{
	CLEANUP_FD int session = file_open(AT_FDCWD, refs_session_path(arena, store->path, id),
					   O_RDONLY | O_DIRECTORY);
	struct refs_undo undo = { .git_directory = git_directory, .store = store->path };
	struct session_record saved = { 0 };
	const char *index;

	if (session < 0 || !of || !git_directory)
		return;
	session_read_start(session, arena, &saved);
	list_steps(&undo, &saved.refs_before, of, arena);
	// The index is restored only if the undo has replaced it: the user may have staged files.
	index = project_index_digest(arena, refs_session_path(arena, store->path, of->id));
	undo.index = str_equal(index, project_index_digest(arena, git_directory));
	refs_redo(store, &undo, id, arena);
}

bool refs_recover(const struct store *store, const char *git_directory, const char *id,
		  const struct session_record *of, struct refs_undo *ret_undo, struct error *error)
{
	struct arena *arena = error->arena;
	CLEANUP_FD int session = file_open(AT_FDCWD, refs_session_path(arena, store->path, id),
					   O_RDONLY | O_DIRECTORY);
	struct session_record record = { 0 };

	if (session >= 0)
		session_read_start(session, arena, &record);
	if (!record.refs_before.count) { // of files alone
		record.refs_before = refs_list(store, arena, git_directory);
		record.operations_before = operations_list(arena, git_directory);
	} else if (of && git_directory &&
		   !operations_end(store, git_directory, id, &of->operations_before, error)) {
		return false;
	}
	*ret_undo = (struct refs_undo){ .present = record.refs_before,
					.operations = record.operations_before };
	return true;
}
