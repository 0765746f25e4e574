// SPDX-License-Identifier: MIT
// Finds out what a session changed in the project's repository, and whether it can be taken back.
//
// Theory of operation: all that can be refused is found out here, before the question.
#include "snapshot/refs/plan.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "render/changes.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/project_index.h"
#include "snapshot/refs/refs.h"
#include "snapshot/session.h"
#include "snapshot/store.h"

#include <string.h>
#include <unistd.h>

enum { SHOWN = 60, MOST_COLUMNS = 120, DIGITS = 7 };

const char *refs_session_path(struct arena *arena, const char *store, const char *id)
{
	return arena_printf(arena, "%s/sessions/%s", store, id);
}

static const char *short_object(struct arena *arena, const char *object)
{
	return arena_strndup(arena, object, strnlen(object, DIGITS));
}

// Returns false with the error, which has to be set, and with the way that stays.
static bool refuse(struct error *error)
{
	return error_hint(error,
			  "nothing was changed; without =commits, claudebox --undo restores the "
			  "files alone");
}

static bool refuse_changed(const char *name, struct error *error)
{
	error_set(error, "'%s' was changed since the end of the session",
		  quote_display(error->arena, name, MOST_COLUMNS));
	return refuse(error);
}

// Adds a reference if the session changed it.
static bool add_step(struct refs_undo *undo, const char *name, struct error *error)
{
	const char *before = refs_value(&undo->record->refs_before, name);
	const char *after = refs_value(&undo->record->refs_after, name);
	const char *now = refs_value(&undo->present, name);
	bool head = str_equal(name, "HEAD");

	// The index belongs to HEAD, so it counts also if the session did not move it.
	if (!refs_is_restored(name) || str_equal(now, before) ||
	    (str_equal(before, after) && !head))
		return true;
	if (!str_equal(now, after))
		return refuse_changed(name, error);
	if (!(head && !before))
		vec_push(error->arena, &undo->steps,
			 (struct refs_step){ .name = name, .from = now, .to = before });
	return true;
}

static bool add_steps(struct refs_undo *undo, struct error *error)
{
	const struct session_record *record = undo->record;

	vec_each(ref, &record->refs_after) {
		if (!add_step(undo, ref->name, error))
			return false;
	}
	vec_each(ref, &record->refs_before) {
		if (!refs_value(&record->refs_after, ref->name) &&
		    !add_step(undo, ref->name, error))
			return false;
	}
	return true;
}

// Returns the branches that are checked out in worktrees, that of HEAD only if another worktree has
// it too.
static bool list_checked_out(const struct store *store, const struct refs_undo *undo,
			     strings *ret_branches, struct error *error)
{
	static const char *const arguments[] = { REFS_SAFE, "worktree", "list", "--porcelain",
						 NULL };
	struct git_run run = { .arguments = arguments, .git_directory = undo->git_directory };
	const char *head = refs_value(&undo->present, "HEAD");
	const char *own = head ? str_after(head, "ref: ") : NULL;
	const char *cursor, *line;
	bool added = false; // the branch of this worktree

	*ret_branches = (strings){ 0 };
	if (!git_run(store, error->arena, &run))
		return git_fail(&run, "list the worktrees", error);
	cursor = run.output;
	while ((line = str_next_line(error->arena, &cursor))) {
		const char *branch = str_after(line, "branch ");

		if (str_starts(line, "worktree "))
			added = false;
		else if (str_starts(line, "prunable") && added) // the worktree is gone
			ret_branches->count--;
		if (branch && own && str_equal(branch, own)) {
			own = NULL;
		} else if (branch) {
			vec_push(error->arena, ret_branches, branch);
			added = true;
		}
	}
	return true;
}

static bool has(const strings *list, const char *name)
{
	vec_each(item, list) {
		if (str_equal(*item, name))
			return true;
	}
	return false;
}

// Leaves branches of other worktrees, as git does.
static bool judge_worktrees(const struct store *store, struct refs_undo *undo, struct error *error)
{
	strings branches;

	if (!list_checked_out(store, undo, &branches, error))
		return false;
	vec_each(step, &undo->steps) {
		const char *branch = step->to ? str_after(step->to, "ref: ") : NULL;

		if (has(&branches, step->name))
			step->why = "is checked out in another worktree";
		if (!str_equal(step->name, "HEAD") || !branch || !has(&branches, branch))
			continue;
		error_set(error, "'%s' is checked out in another worktree",
			  quote_display(error->arena, branch, MOST_COLUMNS));
		return refuse(error);
	}
	return true;
}

// Returns false with an error if the repository lost a commit that is needed.
static bool judge_objects(const struct store *store, const struct refs_undo *undo,
			  struct error *error)
{
	static const char *const arguments[] = { REFS_SAFE, "cat-file",
						 "--batch-check=%(objecttype)", NULL };
	struct text input = { .arena = error->arena };
	struct git_run run = { .arguments = arguments, .git_directory = undo->git_directory };
	const char *cursor, *line;

	vec_each(step, &undo->steps) {
		if (!step->why && step->to && refs_is_object(step->to))
			text_printf(&input, "%s\n", step->to);
	}
	if (!input.length)
		return true;
	run.input = text_get(&input);
	run.input_length = input.length;
	if (!git_run(store, error->arena, &run))
		return git_fail(&run, "read the repository", error);
	cursor = run.output;
	while ((line = str_next_line(error->arena, &cursor))) {
		if (!str_ends(line, " missing"))
			continue;
		error_set(error, "commit %.*s is not in the repository any more", DIGITS, line);
		return refuse(error);
	}
	return true;
}

// Finds out whether the index is replaced.
static bool judge_index(struct refs_undo *undo, struct error *error)
{
	const char *session = refs_session_path(error->arena, undo->store, undo->record->id);
	const char *now = project_index_digest(error->arena, undo->git_directory);

	if (access(path_join(error->arena, session, "index"), F_OK) < 0 ||
	    str_equal(now, project_index_digest(error->arena, session)))
		return true;
	undo->index = true;
	if (str_equal(now, undo->record->index_after))
		return true;
	error_set(error, "something was staged since the end of the session");
	return refuse(error);
}

bool refs_plan(const struct store *store, const char *git_directory,
	       const struct session_record *record, struct refs_undo *ret_undo, struct error *error)
{
	*ret_undo = (struct refs_undo){
		.git_directory = git_directory,
		.store = store->path,
		.record = record,
		.present = refs_list(store, error->arena, git_directory),
		.operations = operations_list(error->arena, git_directory),
	};
	if (!ret_undo->present.count || !record->refs_before.count) {
		error_set(error, "%s",
			  record->refs_before.count ? "the git repository was removed or damaged"
			  : git_directory ? "the session started without a readable repository"
					  : "the project has no git repository");
		return refuse(error);
	}
	ret_undo->ended =
		operations_to_end(error->arena, &record->operations_before, &ret_undo->operations);
	return operations_judge(&record->operations_before, &record->operations_after,
				&ret_undo->operations, error) &&
	       add_steps(ret_undo, error) && judge_worktrees(store, ret_undo, error) &&
	       judge_objects(store, ret_undo, error) && judge_index(ret_undo, error);
}

bool refs_plan_changes(const struct refs_undo *undo)
{
	vec_each(step, &undo->steps) {
		if (!step->why)
			return true;
	}
	return undo->index || undo->ended.count;
}

static const char *show_value(struct arena *arena, const char *value)
{
	const char *branch = value ? str_after(value, "ref: ") : NULL;

	if (branch)
		return arena_printf(arena, "branch %s",
				    quote_word(arena, render_ref_name(branch), SHOWN));
	return value ? quote_word(arena, short_object(arena, value), SHOWN) : NULL;
}

void refs_plan_show(const struct refs_undo *undo, struct arena *arena, struct undo_view *view)
{
	vec_each(step, &undo->steps) {
		const char *effect = !step->from ? "recreate" : step->to ? "restore" : "delete";

		vec_push(arena, &view->rows,
			 (struct undo_row){ .what = render_ref_kind(step->name),
					    .path = str_equal(step->name, "HEAD")
							    ? NULL
							    : render_ref_name(step->name),
					    .to = step->why ? NULL : show_value(arena, step->to),
					    .effect = step->why ? NULL : effect,
					    .why = step->why });
	}
	if (undo->index)
		vec_push(arena, &view->rows,
			 (struct undo_row){ .what = "git's index", .effect = "restore" });
	vec_each(name, &undo->ended)
		vec_push(arena, &view->rows, (struct undo_row){ .what = *name, .effect = "end" });
}
