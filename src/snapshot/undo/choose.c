// SPDX-License-Identifier: MIT
// Chooses the session that --undo takes back.
#include "snapshot/undo/choose.h"

#include "base/arena.h"
#include "base/error.h"
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

// Returns false with the error that no session has changed the named paths, but for these changes.
static bool refuse_paths(const file_changes *changes, const struct snapshot_command *command,
			 struct error *error)
{
	error_set(error, "no session has changed %s", command_find_unchanged(command, changes));
	return error_hint(error, "files that git ignores are not saved; claudebox --diff=stat "
				 "lists what the last session changed");
}

// Returns false with an error if some of the named paths were changed by no session.
static bool judge_paths(const struct snapshot_command *command, const session_list *list,
			struct error *error)
{
	file_changes all = { 0 };

	vec_each(record, list) {
		file_changes changes;

		if (!changes_list(&command->store, record->before, record->after, &command->paths,
				  &changes, error))
			return false;
		vec_each(change, &changes)
			vec_push(error->arena, &all, *change);
	}
	return !command_find_unchanged(command, &all) || refuse_paths(&all, command, error);
}

// Returns false with an error if the chosen record did not change all of the named paths.
static bool judge_record(const struct snapshot_command *command, const undo_steps *steps,
			 struct error *error)
{
	file_changes changes = { 0 };
	const char *unchanged;

	vec_each(step, steps)
		vec_push(error->arena, &changes, step->change);
	unchanged = command_find_unchanged(command, &changes);
	if (!unchanged)
		return true;
	error_set(error, "%s of %s has not changed %s, but the other paths",
		  command->record->kind == SESSION_UNDO ? "the undo" : "the session",
		  command_show_time(error->arena, command->record->started_ms), unchanged);
	return error_hint(error, "take back the paths of one session at a time");
}

// Chooses the record for the named paths: the last one of which something can be taken back,
// otherwise the last one that has changed them.
static bool plan_paths(struct snapshot_command *command, const session_list *list, const char *now,
		       undo_steps *ret_steps, struct error *error)
{
	const struct session_record *found = NULL;
	undo_steps steps;
	bool changed;

	if (command->paths.count > 1 && !judge_paths(command, list, error))
		return false;
	for (size_t i = list->count; i-- > 0;) {
		if (!plan_record(command, &list->items[i], now, &steps, &changed, error))
			return false;
		if (!undo_any_possible(&steps) && (!changed || found))
			continue;
		*ret_steps = steps;
		found = &list->items[i];
		if (undo_any_possible(&steps))
			break;
	}
	command->record = found;
	return found ? judge_record(command, ret_steps, error)
		     : refuse_paths(&(file_changes){ 0 }, command, error);
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
	return plan_record(command, record, now, ret_steps, &changed, error) &&
	       judge_record(command, ret_steps, error);
}
