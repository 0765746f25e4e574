// SPDX-License-Identifier: MIT
// The command --diff.
//
// Theory of operation: snapshots are compared, never the repository, so no diff driver, filter or
// hook of it is run.
#include "snapshot/diff.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
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
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Returns false with the error that the last session did not change the named paths.
static bool refuse_paths(const struct snapshot_command *command, struct error *error)
{
	error_set(error, "the last session has not changed '%s'",
		  quote_display(error->arena, command->config->arguments.items[0], 120));
	return error_hint(error, "claudebox --diff=stat lists what it has changed; files that git "
				 "ignores are not saved");
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
	if (!run.output_length && command->paths.count)
		return refuse_paths(command, error);
	if (!reader.terminal)
		return write_all(STDOUT_FILENO, run.output, run.output_length) ||
		       error_set(error, "cannot write: %s", strerror(errno));
	return pager_show(arena, render_patch(arena, run.output, run.output_length, reader), error);
}

static bool print_statistics(const struct snapshot_command *command, struct error *error)
{
	const struct session_record *record = command->record;
	file_changes changes;

	if (!changes_list(&command->store, record->before, record->after, &command->paths, &changes,
			  error))
		return false;
	if (!changes.count && command->paths.count)
		return refuse_paths(command, error);
	changes_count_lines(&command->store, command->arena, record->before, record->after,
			    &changes);
	return pager_show(command->arena,
			  render_statistics(command->arena, &changes, output_reader(STDOUT_FILENO)),
			  error);
}

// Opens the snapshots, and completes sessions that were killed.
static bool open_store(struct snapshot_command *command, struct error *error)
{
	struct store *store = &command->store;

	if (!store_open(store, command->undo.git, command->undo.path, command->facts->project,
			false, error))
		return error->message ? false : command_refuse_nothing(command, error);
	return !session_is_pending(store, command->arena) ||
	       snapshot_refresh(store, &command->undo, NULL, error);
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
		ok = command.record ? config->statistics ? print_statistics(&command, error)
							 : print_patch(&command, error)
				    : command_refuse_nothing(&command, error);
	}
	store_close(&command.store);
	return ok;
}
