// SPDX-License-Identifier: MIT
// The command --undo.
//
// Theory of operation: it takes the lock that every box of the project holds, saves the present
// state of the project, and compares it with the end of the session: what was changed since is left
// as it is. Then it restores the files, and records itself as a session, so that the next --undo
// takes it back.
#include "snapshot/undo/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "render/changes.h"
#include "snapshot/changes.h"
#include "snapshot/command.h"
#include "snapshot/pager.h"
#include "snapshot/take/modes.h"
#include "snapshot/refs/odd_entries.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/refs.h"
#include "snapshot/refs/undo.h"
#include "snapshot/session.h"
#include "snapshot/snapshot.h"
#include "snapshot/store.h"
#include "snapshot/take/take.h"
#include "snapshot/unsaved.h"
#include "snapshot/undo/choose.h"
#include "snapshot/undo/undo.h"
#include "snapshot/undo/interrupt.h"
#include "snapshot/undo/plan.h"
#include "snapshot/undo/record.h"
#include "snapshot/undo/view.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { NEXT_COLUMNS = 100 };

// Takes the lock of the instance. Returns -1 with an error if a box of the project runs.
static int lock_instance(const struct snapshot_command *command, struct error *error)
{
	const char *path = plan_instance_path(command->arena, command->facts);
	CLEANUP_FD int instance = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int lock = instance < 0 ? -1 : lock_exclusively(instance, INSTANCE_LOCK);

	if (lock >= 0)
		return take_fd(&lock);
	if (instance < 0 && errno == ENOENT) {
		command_refuse_nothing(command, error);
	} else if (errno == EWOULDBLOCK) {
		error_set(error, "cannot undo: a box of this project runs");
		error_hint(error, "end the box first");
	} else {
		write_fail(error, "lock", path);
	}
	return -1;
}

static bool confirm(const struct snapshot_command *command, const struct undo_view *view,
		    struct error *error)
{
	bool yes = command->config->yes;
	int fd = yes ? STDOUT_FILENO : STDERR_FILENO;

	if (!output_print(fd,
			  render_undo(command->arena, view, output_reader(fd),
				      yes ? UNDO_SOME : UNDO_SCREEN),
			  error))
		return false;
	if (!yes && !ask_yes_no("Take this back?", &yes, error))
		return error_hint(error, "start with --yes if you agree");
	if (yes)
		return true;
	error_set(error, "nothing was changed");
	return error_hint(error, "answer y to take it back, or use --yes");
}

// The references of an undo, for undo_apply().
struct refs_part {
	const struct store *store;
	const struct refs_undo *refs;
	const char *id;
	bool changed;
};

static bool change_refs(void *context, struct error *error)
{
	struct refs_part *part = context;

	part->changed = refs_save(part->store, part->refs, part->id, error) &&
			refs_undo(part->store, part->refs, part->id, error);
	return part->changed;
}

static bool apply_held(struct snapshot_command *command, const undo_steps *steps,
		       const struct refs_undo *refs, size_t possible, const char *now,
		       struct error *error)
{
	const struct session_record *record = command->record;
	const struct store *store = &command->store;
	struct undo_journal journal = { .id = session_new_id(command->arena),
					.of = record->id,
					.now = now };
	struct refs_part part = { .store = store, .refs = refs, .id = journal.id };
	struct undo_middle middle = { change_refs, &part };
	bool commits = command->config->commits;

	if ((possible || commits) &&
	    !undo_apply(store, steps, &journal, commits ? &middle : NULL, error)) {
		if (part.changed)
			refs_redo(store, refs, journal.id, command->arena);
		return false;
	}
	if ((commits && !operations_end(store, refs->git_directory, journal.id,
					&record->operations_before, error)) ||
	    !undo_record(command, journal.id, record->id, now, refs, false, error))
		return false;
	undo_end(store);
	return true;
}

// Does the undo. An interrupt rolls it back, or comes too late.
static bool apply(struct snapshot_command *command, const undo_steps *steps,
		  const struct refs_undo *refs, size_t possible, const char *now,
		  struct error *error)
{
	struct interrupt interrupt = interrupt_hold();
	bool ok = apply_held(command, steps, refs, possible, now, error);

	if (interrupt_release(&interrupt) && ok)
		output_message("undo", "the interrupt came too late: the undo is complete");
	return ok;
}

// Reads the state of the repository. With =commits, finds out what is restored there.
static bool plan_refs(const struct snapshot_command *command, struct refs_undo *ret_refs,
		      struct error *error)
{
	const char *directory = command->undo.git_directory;

	if (command->config->commits && directory &&
	    (!odd_entries_refuse(directory, error) ||
	     !odd_entries_refuse(command->facts->git.common, error)))
		return false;
	if (command->config->commits)
		return refs_plan(&command->store, directory, command->record, ret_refs, error);
	*ret_refs = (struct refs_undo){
		.present = refs_list(&command->store, command->arena, directory),
		.operations = operations_list(command->arena, directory),
	};
	return true;
}

// Returns false with the error that nothing can be taken back.
static bool refuse_all(const struct snapshot_command *command, const struct undo_view *view,
		       struct error *error)
{
	output_print(STDERR_FILENO,
		     render_undo(command->arena, view, output_reader(STDERR_FILENO), UNDO_SOME),
		     error);
	error_set(error, view->refs_left ? "there is no file that can be taken back"
					 : "there is nothing that can be taken back");
	return view->refs_left
		       ? error_hint(error,
				    "claudebox --undo=commits takes back branches, tags and HEAD")
		       : error_hint(error, "claudebox --diff shows what the last session changed");
}

// Returns whether the next --undo takes back the rest of the session instead of this undo.
static bool rest_follows(const struct snapshot_command *command)
{
	struct error error = { .arena = command->arena };
	struct snapshot_command next = *command;
	session_list list = session_list_all(&command->store, command->arena);
	const struct session_record *last = session_last(&list, false);
	const char *now = snapshot_write_tree(&command->store, NULL, &error);
	undo_steps steps = { 0 };

	next.paths = (strings){ 0 };
	return now && undo_choose(&next, &list, now, &steps, &error) && next.record != last;
}

// Returns the sentence about the next undo.
static const char *say_next(const struct snapshot_command *command)
{
	struct arena *arena = command->arena;
	struct text paths = { .arena = arena };

	if (command->config->commits)
		return "The next claudebox --undo=commits takes back this undo.";
	if (!command->paths.count || !command->partial || !rest_follows(command))
		return "The next claudebox --undo takes back this undo.";
	vec_each(word, &command->config->arguments)
		text_printf(&paths, " %s", quote_word(arena, *word, 0));
	return arena_printf(arena,
			    "The next claudebox --undo takes back the rest; `claudebox --undo%s` "
			    "takes back this undo.",
			    paths.length > NEXT_COLUMNS ? " PATH..." : text_get(&paths));
}

static bool undo_last(struct snapshot_command *command, struct error *error)
{
	struct arena *arena = command->arena;
	session_list list;
	undo_steps steps = { 0 };
	struct undo_view view;
	struct refs_undo refs;
	const char *now;

	command->unsaved_ms = unsaved_read(&command->store, arena);
	if (!session_count(&command->store, arena))
		return command_refuse_nothing(command, error);
	if (command->config->list_only && undo_is_pending(&command->store))
		return output_print(STDOUT_FILENO,
				    "An undo was interrupted. The next claudebox --undo completes "
				    "it.\n",
				    error);
	if (!undo_recover_killed(command, error))
		return false;
	if (command->completed) // it is what the user wants, and not the undo of it
		return output_print(STDOUT_FILENO,
				    "The next claudebox --undo takes back this undo.\n", error);
	if (!snapshot_refresh(&command->store, &command->undo, NULL, &command->modes, error))
		return false;
	list = session_list_all(&command->store, arena);
	now = snapshot_write_tree(&command->store, NULL, error);
	if (!now || !undo_choose(command, &list, now, &steps, error) ||
	    !plan_refs(command, &refs, error))
		return false;
	vec_each(step, &steps)
		command->partial |= step->obstacle == UNDO_CHANGED ||
				    step->obstacle == UNDO_BLOCKED;
	command->partial |= command->paths.count != 0;
	view = undo_build_view(command, &steps, &refs);
	if (!view.possible && !(command->config->commits && refs_plan_changes(&refs)))
		return refuse_all(command, &view, error);
	if (command->config->list_only)
		return pager_show(arena,
				  render_undo(arena, &view, output_reader(STDOUT_FILENO), UNDO_ALL),
				  error);
	if (!confirm(command, &view, error) ||
	    !apply(command, &steps, &refs, view.possible, now, error))
		return false;
	return output_print(STDOUT_FILENO,
			    arena_printf(arena, "Took back %s. %s\n",
					 render_undo_count(arena, &view), say_next(command)),
			    error);
}

bool undo_command(const struct config *config, struct facts *facts, struct arena *arena,
		  int *ret_status, struct error *error)
{
	struct snapshot_command command = {
		.config = config, .facts = facts, .arena = arena, .store = STORE_NONE
	};
	CLEANUP_FD int lock = -1;
	bool ok;

	*ret_status = 0;
	if (!command_prepare(&command, error))
		return false;
	lock = lock_instance(&command, error);
	if (lock < 0)
		return false;
	ok = store_open(&command.store, command.undo.git, command.undo.path, facts->project, false,
			error);
	if (!ok && !error->message)
		command_refuse_nothing(&command, error);
	ok = ok && undo_last(&command, error);
	store_close(&command.store);
	return ok;
}
