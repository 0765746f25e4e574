// SPDX-License-Identifier: MIT
// Chooses the session that --undo takes back.
#include "snapshot/undo/choose.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "snapshot/changes.h"
#include "snapshot/command.h"
#include "snapshot/session.h"
#include "snapshot/undo/plan.h"
#include "snapshot/undo/record.h"

// Returns the record that --undo takes back. With =commits, an undo of files alone does not count:
// the branches of the session before it are restored.
static const struct session_record *choose_record(const session_list *list, bool commits)
{
	const struct session_record *record = session_last(list, false);

	while (commits && record && record->kind == SESSION_UNDO && !session_changed_refs(record) &&
	       undo_find_record(list, record->of))
		record = undo_find_record(list, record->of);
	return record;
}

// Plans to take back a record. *ret_changed: it has changes at the named paths.
static bool plan_record(struct snapshot_command *command, const struct session_record *record,
			const char *now, undo_steps *ret_steps, bool *ret_changed,
			struct error *error)
{
	bool undo = record->kind == SESSION_UNDO;
	struct known_files known = { .id = record->id,
				     .started_ms = undo ? 0 : record->started_ms };
	file_changes changes;

	command->record = record;
	if (!changes_list(&command->store, record->before, record->after, &command->paths, &changes,
			  error))
		return false;
	*ret_changed = changes.count != 0;
	return undo_plan(&command->store, &changes, record->after, now, &known, ret_steps, error);
}

bool undo_any_possible(const undo_steps *steps)
{
	vec_each(step, steps) {
		if (step->obstacle == UNDO_POSSIBLE)
			return true;
	}
	return false;
}

// Chooses the record for the named paths: the last one of which something can be taken back,
// otherwise the last one that has changed them.
static bool plan_paths(struct snapshot_command *command, const session_list *list, const char *now,
		       undo_steps *ret_steps, struct error *error)
{
	const struct session_record *found = NULL;
	undo_steps steps;
	bool changed;

	for (size_t i = list->count; i-- > 0;) {
		if (!plan_record(command, &list->items[i], now, &steps, &changed, error))
			return false;
		if (!undo_any_possible(&steps) && (!changed || found))
			continue;
		*ret_steps = steps;
		found = &list->items[i];
		if (undo_any_possible(&steps))
			return true;
	}
	command->record = found;
	if (found)
		return true;
	error_set(error, "no session has changed '%s'",
		  quote_display(error->arena, command->config->arguments.items[0], 120));
	error_hint(error, "files that git ignores are not saved; claudebox --diff=stat lists what "
			  "the last session changed");
	return false;
}

bool undo_choose(struct snapshot_command *command, const session_list *list, const char *now,
		 undo_steps *ret_steps, struct error *error)
{
	const struct session_record *record = choose_record(list, command->config->commits);
	const struct session_record *whole = record;
	bool changed;

	if (!record) {
		command_refuse_nothing(command, error);
		return false;
	}
	if (command->paths.count && !command->config->commits)
		return plan_paths(command, list, now, ret_steps, error);
	while (whole && whole->kind == SESSION_UNDO && whole->partial)
		whole = undo_find_record(list, whole->of);
	if (whole && whole != record) {
		if (!plan_record(command, whole, now, ret_steps, &changed, error))
			return false;
		if (undo_any_possible(ret_steps))
			return true;
	}
	return plan_record(command, record, now, ret_steps, &changed, error);
}
