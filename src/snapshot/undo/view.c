// SPDX-License-Identifier: MIT
// What an undo will do, for the question.
#include "snapshot/undo/view.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan.h"
#include "render/changes.h"
#include "render/instances.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/refs.h"
#include "snapshot/refs/undo.h"
#include "snapshot/session.h"
#include "snapshot/store.h"
#include "snapshot/undo/plan.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { LIST_COLUMNS = 70, MOST_LOOKED = 1000, STASHES_LIMIT = 1024 * 1024 };

static const char *effect_of(const struct file_change *change)
{
	return !change->after.mode ? "recreate" : !change->before.mode ? "delete" : "restore";
}

// Adds what an undo of files alone leaves in the repository.
static void add_left(const struct snapshot_command *command, struct undo_view *view)
{
	struct arena *arena = command->arena;
	struct error error = { .arena = arena };
	const struct session_record *record = command->record;
	struct refs_undo refs;

	if (!session_changed_refs(record) &&
	    !operations_to_end(arena, &record->operations_before, &record->operations_after).count)
		return;
	if (!refs_plan(&command->store, command->undo.git_directory, command->record, &refs,
		       &error))
		vec_push(arena, &view->notes,
			 arena_printf(arena,
				      "Branches, tags and commits stay, and they cannot be "
				      "restored: %s.",
				      error.message));
	else if (refs.steps.count || refs.index)
		vec_push(arena, &view->notes,
			 refs.steps.count ? "Branches, tags and commits stay: `claudebox "
					    "--undo=commits` restores them too."
					  : "What is staged stays: `claudebox --undo=commits` "
					    "restores it too.");
	vec_each(name, &refs.ended)
		vec_push(arena, &view->notes,
			 arena_printf(arena,
				      "A %s is in progress and stays: `claudebox --undo=commits` "
				      "ends it.",
				      *name));
	view->refs_left = !error.message && refs_plan_changes(&refs);
}

// Returns whether a stash is in the list, at any place.
static bool is_stash(const struct snapshot_command *command, const char *object)
{
	const char *path = path_join(command->arena, command->facts->git.common, "logs/refs/stash");
	const char *log = file_read(command->arena, path, STASHES_LIMIT, 0);

	return log && strstr(log, object);
}

// Adds what happens to stashes: one that the session dropped is not restored, and a new one stays.
static void add_stash(const struct snapshot_command *command, struct undo_view *view)
{
	struct arena *arena = command->arena;
	const char *before = refs_value(&command->record->refs_before, "refs/stash");
	const char *after = refs_value(&command->record->refs_after, "refs/stash");

	if (str_equal(before, after) || !command->undo.git_directory ||
	    refs_are_lost(&command->record->refs_before, &command->record->refs_after))
		return;
	if (before && !is_stash(command, before))
		vec_push(arena, &view->notes,
			 arena_printf(arena,
				      "Stashes stay as they are. The session dropped %.7s: `git "
				      "stash store %.7s` brings it back.",
				      quote_display(arena, before, 0),
				      quote_display(arena, before, 0)));
	if (after && is_stash(command, after))
		vec_push(arena, &view->notes,
			 arena_printf(arena, "The new stash %.7s stays: `git stash list` shows it.",
				      quote_display(arena, after, 0)));
}

// Returns whether a directory of the project has a .git that the session made.
static bool is_new_repository(const struct snapshot_command *command, const char *directory)
{
	const char *path = path_join(command->arena, command->store.project,
				     path_join(command->arena, directory, ".git"));
	struct statx status;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) == 0 &&
	       status.stx_mask & STATX_BTIME &&
	       (int64_t)status.stx_btime.tv_sec * 1000 + status.stx_btime.tv_nsec / 1000000 >=
		       command->record->started_ms;
}

static bool has_path(const strings *paths, const char *path)
{
	vec_each(known, paths) {
		if (str_equal(*known, path))
			return true;
	}
	return false;
}

// Adds the repositories and worktrees of which the undo removes the files alone.
static void add_repositories(const struct snapshot_command *command, const undo_steps *steps,
			     struct undo_view *view)
{
	struct arena *arena = command->arena;
	strings looked = { 0 }, found = { 0 };

	if (is_new_repository(command, "."))
		vec_push(arena, &found, ".git");
	vec_each(step, steps) {
		const char *path = step->change.path;

		if (step->obstacle != UNDO_POSSIBLE || step->change.before.mode)
			continue;
		for (const char *slash = strchr(path, '/'); slash && looked.count < MOST_LOOKED;
		     slash = strchr(slash + 1, '/')) {
			const char *above = arena_strndup(arena, path, (size_t)(slash + 1 - path));

			if (has_path(&looked, above))
				continue;
			vec_push(arena, &looked, above);
			if (is_new_repository(command, above))
				vec_push(arena, &found, above);
		}
	}
	if (found.count)
		vec_push(arena, &view->notes,
			 arena_printf(arena, "Repositories that the session created stay: %s",
				      render_some_paths(arena, &found, found.count)));
}

// Returns the command that lists all without doing it.
static const char *list_command(const struct snapshot_command *command)
{
	struct text out = { .arena = command->arena };

	text_printf(&out, "claudebox --undo%s --dry-run",
		    command->config->commits ? "=commits" : "");
	vec_each(word, &command->config->arguments)
		text_printf(&out, " %s", quote_word(command->arena, *word, 0));
	return out.length > LIST_COLUMNS ? "claudebox --undo --dry-run PATH..." : text_get(&out);
}

struct undo_view undo_build_view(const struct snapshot_command *command, const undo_steps *steps,
				 const struct refs_undo *refs)
{
	struct arena *arena = command->arena;
	const struct session_record *record = command->record;
	bool undo = record->kind == SESSION_UNDO;
	struct undo_view view = {
		.what = arena_printf(arena, "%s of %s", undo ? "the undo" : "the session",
				     command_show_time(arena, record->started_ms)),
		.list = list_command(command),
	};

	if (command_say_unsaved(command))
		vec_push(arena, &view.notes, command_say_unsaved(command));
	if (command->config->commits)
		refs_plan_show(refs, arena, &view);
	vec_each(step, steps) {
		bool possible = step->obstacle == UNDO_POSSIBLE;

		if (step->obstacle == UNDO_DONE)
			continue;
		view.possible += possible;
		vec_push(arena, &view.rows,
			 (struct undo_row){
				 .path = step->change.path,
				 .effect = possible ? effect_of(&step->change) : NULL,
				 .why = possible ? NULL : undo_obstacle_names[step->obstacle] });
	}
	if (!command->config->commits)
		add_left(command, &view);
	if (undo && record->killed && view.possible)
		vec_push(arena, &view.notes,
			 "claudebox was killed in this undo: all changes since its start count as "
			 "changes of the undo");
	if (undo)
		return view;
	add_stash(command, &view);
	add_repositories(command, steps, &view);
	if (view.possible)
		vec_push(arena, &view.notes,
			 record->killed
				 ? "claudebox was killed in this session: all changes since its "
				   "start count as changes of the session"
				 : "Changes that you or another box made during the session are "
				   "taken back too: they look the same.");
	if (!record->ignored && view.possible)
		vec_push(arena, &view.notes,
			 "Files that git ignores were not saved: they stay as they are.");
	if (record->left_out_count)
		vec_push(arena, &view.notes,
			 arena_printf(arena, "%s could not be saved, and %s not restored: %s",
				      render_count(arena, record->left_out_count, "path"),
				      record->left_out_count == 1 ? "is" : "are",
				      render_some_paths(arena, &record->left_out,
							record->left_out_count)));
	return view;
}
