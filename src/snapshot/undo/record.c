// SPDX-License-Identifier: MIT
#include "snapshot/undo/record.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "snapshot/changes.h"
#include "snapshot/command.h"
#include "snapshot/refs/undo.h"
#include "snapshot/session.h"
#include "snapshot/snapshot.h"
#include "snapshot/store.h"
#include "snapshot/take/modes.h"
#include "snapshot/take/take.h"
#include "snapshot/undo/interrupt.h"
#include "snapshot/undo/undo.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/output.h"

#include <fcntl.h>

const struct session_record *undo_find_record(const session_list *list, const char *id)
{
	vec_each(record, list) {
		if (str_equal(record->id, id))
			return record;
	}
	return NULL;
}

// Keeps the permissions before an undo, for the undo of it.
static bool keep_modes(const struct snapshot_command *command, const char *id, struct error *error)
{
	CLEANUP_FD int session = file_open(command->store.directory,
					   arena_printf(error->arena, "sessions/%s", id),
					   O_RDONLY | O_DIRECTORY);

	return session >= 0 && modes_write(session, &command->modes, error);
}

// Lists the paths that the session `of` changed: those that an undo has restored are saved, even if
// git ignores them now.
static strings list_paths(const struct snapshot_command *command, const char *of)
{
	struct error ignored = { .arena = command->arena };
	session_list list = session_list_all(&command->store, command->arena);
	const struct session_record *record = undo_find_record(&list, of);
	file_changes changes = { 0 };
	strings paths = { 0 };

	if (record)
		changes_list(&command->store, record->before, record->after, NULL, &changes,
			     &ignored);
	vec_each(change, &changes)
		vec_push(command->arena, &paths, change->path);
	return paths;
}

bool undo_record(const struct snapshot_command *command, const char *id, const char *of,
		 const char *before, const struct refs_undo *refs, bool killed, struct error *error)
{
	struct session_record record = { .id = id,
					 .kind = SESSION_UNDO,
					 .of = of,
					 .partial = command->partial,
					 .ignored = command->undo.ignored ||
						    session_saves_ignored(&command->store,
									  command->arena),
					 .killed = killed,
					 .started_ms = clock_realtime_ms(),
					 .ended_ms = clock_realtime_ms(),
					 .before = before };
	strings wanted;

	wanted = list_paths(command, of);
	if (!snapshot_refresh(&command->store, &command->undo, &wanted, NULL, error))
		return false;
	record.after = snapshot_write_tree(&command->store, NULL, error);
	session_add_end(&command->store, command->arena, command->undo.git_directory, &record);
	record.refs_before = refs->present;
	record.operations_before = refs->operations;
	if (!record.after)
		return false;
	if (str_equal(record.before, record.after) && !session_changed_refs(&record)) {
		session_remove(&command->store, id, error->arena);
		return true;
	}
	return session_write(&command->store, &record, error) && keep_modes(command, id, error);
}

// Completes an undo that was killed, or rolls it back.
static bool recover_held(struct snapshot_command *command, struct error *error)
{
	const char *git_directory = command->undo.git_directory;
	const struct session_record *of;
	struct undo_journal journal = { 0 };
	struct refs_undo refs = { 0 };
	session_list list;

	if (!undo_recover(&command->store, &journal, error))
		return false;
	if (!journal.id)
		return true;
	list = session_list_all(&command->store, command->arena);
	of = undo_find_record(&list, journal.of);
	if (journal.undecided) {
		refs_roll_back(&command->store, git_directory, journal.id, of, command->arena);
		session_remove(&command->store, journal.id, command->arena);
		output_message("undo", "rolled back the undo that was interrupted");
	} else if (!undo_find_record(&list, journal.id)) {
		output_message("undo", "completed the undo that was interrupted");
		if (!refs_recover(&command->store, git_directory, journal.id, of, &refs, error) ||
		    !undo_record(command, journal.id, journal.of, journal.now, &refs, true, error))
			return false;
		command->completed = true;
	}
	undo_end(&command->store);
	return true;
}

bool undo_recover_killed(struct snapshot_command *command, struct error *error)
{
	struct interrupt interrupt = interrupt_hold();
	bool ok = recover_held(command, error);

	interrupt_release(&interrupt);
	return ok;
}
