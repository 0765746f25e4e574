// SPDX-License-Identifier: MIT
// The command --diff.
//
// Theory of operation: snapshots are compared, never the repository, so no diff driver, filter or
// hook of it is run.
#include "snapshot/diff.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/changes.h"
#include "snapshot/changes.h"
#include "snapshot/command.h"
#include "snapshot/pager.h"
#include "snapshot/session.h"
#include "snapshot/snapshot.h"
#include "snapshot/store.h"
#include "snapshot/unsaved.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Returns false with an error if the last session did not change all of the named paths.
static bool judge_paths(const struct snapshot_command *command, struct error *error)
{
	const struct session_record *record = command->record;
	file_changes changes;
	const char *unchanged;

	if (!command->paths.count)
		return true;
	if (!changes_list(&command->store, record->before, record->after, &command->paths, &changes,
			  error))
		return false;
	unchanged = command_find_unchanged(command, &changes);
	if (!unchanged)
		return true;
	error_set(error, "the last session has not changed %s", unchanged);
	return error_hint(error, "claudebox --diff=stat lists what it has changed; files that git "
				 "ignores are not saved");
}

// Shows a text, on a terminal below the sentence that a later session was not saved.
static bool show(const struct snapshot_command *command, const char *text, struct reader reader,
		 struct error *error)
{
	const char *sentence = command_say_unsaved(command);
	struct screen screen = screen_for(command->arena, reader);

	if (!sentence || !reader.terminal)
		return pager_show(command->arena, text, error);
	screen_add_wrapped(&screen, STYLE_WARN, sentence, 0);
	text_add(&screen.out, text);
	return pager_show(command->arena, text_get(&screen.out), error);
}

static bool print_patch(const struct snapshot_command *command, struct error *error)
{
	struct arena *arena = command->arena;
	const struct session_record *record = command->record;
	struct reader reader = output_reader(STDOUT_FILENO);
	const char *arguments[16 + MOST_PATHS] = { "-c",
						   "core.bigFileThreshold=16m",
						   "diff-tree",
						   "-r",
						   "-p",
						   "--no-color",
						   "-M",
						   "--no-ext-diff",
						   "--no-textconv",
						   record->before,
						   record->after,
						   "--" };
	struct git_run run = { .arguments = arguments };

	for (size_t i = 0; i < command->paths.count; i++)
		arguments[12 + i] = *command->paths.items[i] ? command->paths.items[i] : ".";
	if (!reader.terminal) // a program gets the patch as it is
		arguments[5] = "--binary";
	if (!git_run(&command->store, arena, &run))
		return git_fail(&run, "compare the snapshots", error);
	if (!reader.terminal)
		return write_all(STDOUT_FILENO, run.output, run.output_length) ||
		       error_set(error, "cannot write: %s", strerror(errno));
	return show(command, render_patch(arena, run.output, run.output_length, reader), reader,
		    error);
}

static bool print_statistics(const struct snapshot_command *command, struct error *error)
{
	const struct session_record *record = command->record;
	struct reader reader = output_reader(STDOUT_FILENO);
	file_changes changes;

	if (!changes_list(&command->store, record->before, record->after, &command->paths, &changes,
			  error))
		return false;
	changes_count_lines(&command->store, command->arena, record->before, record->after,
			    &changes);
	return show(command, render_statistics(command->arena, &changes, reader), reader, error);
}

// Shows the changes of the record.
static bool print(const struct snapshot_command *command, struct error *error)
{
	const char *sentence = command_say_unsaved(command);

	if (!judge_paths(command, error))
		return false;
	if (sentence && !output_reader(STDOUT_FILENO).terminal) // the patch has to apply
		output_message("claudebox", "%s", sentence);
	return command->config->statistics ? print_statistics(command, error)
					   : print_patch(command, error);
}

// Opens the snapshots, and completes sessions that were killed.
static bool open_store(struct snapshot_command *command, struct error *error)
{
	struct store *store = &command->store;

	if (!store_open(store, command->undo.git, command->undo.path, command->facts->project,
			false, error))
		return error->message ? false : command_refuse_nothing(command, error);
	return !session_find_killed(store, command->arena) ||
	       snapshot_refresh(store, &command->undo, NULL, NULL, error);
}

bool diff_command(const struct config *config, struct facts *facts, struct arena *arena,
		  int *ret_status, struct error *error)
{
	struct snapshot_command command = {
		.config = config, .facts = facts, .arena = arena, .store = STORE_NONE
	};
	session_list list;
	bool ok;

	*ret_status = 0;
	if (!command_prepare(&command, error))
		return false;
	ok = open_store(&command, error);
	if (ok) {
		list = session_list_all(&command.store, arena);
		command.record = session_last(&list, true);
		command.unsaved_ms = unsaved_read(&command.store, arena);
		ok = command.record ? print(&command, error)
				    : command_refuse_nothing(&command, error);
	}
	store_close(&command.store);
	return ok;
}
