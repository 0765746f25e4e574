// SPDX-License-Identifier: MIT
// What --diff and --undo have in common.
#include "snapshot/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/report/report.h"
#include "plan/state/instances.h"
#include "plan/undo.h"
#include "probe/undo.h"
#include "render/report.h"
#include "snapshot/changes.h"
#include "snapshot/elsewhere.h"
#include "sys/files.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIME_SIZE = 32, NAMED_PATHS = 5, REPORT_LIMIT = 16 * 1024 * 1024 };

// Resolves the paths of the command line against the working directory.
static bool read_paths(struct snapshot_command *command, struct error *error)
{
	const char *project = command->facts->project;

	vec_each(word, &command->config->arguments) {
		const char *path =
			path_clean(command->arena, path_join(command->arena, project, *word));

		if (!**word || !path_within(path, project)) {
			error_set(error,
				  **word ? "'%s' is outside of the project"
					 : "'%s' is no path: it is empty",
				  quote_display(error->arena, *word, 120));
			error->status = EXIT_USAGE;
			return error_hint(error, "paths are relative to '%s'",
					  quote_display(error->arena, project, 0));
		}
		vec_push(command->arena, &command->paths,
			 str_equal(path, project) ? "" : path + strlen(project) + 1);
	}
	if (command->paths.count <= MOST_PATHS)
		return true;
	error_set(error, "more than %d paths", MOST_PATHS);
	error->status = EXIT_USAGE;
	return error_hint(error, "name a directory");
}

// Returns whether the snapshots of the last session were removed: its report is still there.
static bool were_removed(const struct snapshot_command *command)
{
	struct arena *arena = command->arena;
	const char *path = arena_printf(arena, "%s/" INSTANCE_REPORT_PREFIX "%s.json",
					plan_instance_path(arena, command->facts),
					instance_id(arena, command->facts->project));
	const char *text = file_read(arena, path, REPORT_LIMIT, 0);
	struct report report;

	return text && !command->facts->state.kept_as && access(command->undo.path, F_OK) < 0 &&
	       report_parse(arena, text, &report) && report.saved;
}

bool command_refuse_nothing(const struct snapshot_command *command, struct error *error)
{
	const char *home = command->facts->home;
	const char *project = quote_display(
		error->arena, path_tilde(error->arena, command->facts->project, home), 0);
	const char *other = elsewhere_find(command->facts, error->arena);

	if (were_removed(command)) {
		error_set(error, "the snapshots of '%s' were removed", project);
		return error_hint(error, "the next session is saved again; claudebox --report "
					 "shows what the last one changed");
	}
	if (command->unsaved_ms)
		error_set(error,
			  "the last session (%s) was not saved, and no earlier one of '%s' has "
			  "changed a file",
			  command_show_time(error->arena, command->unsaved_ms), project);
	else
		error_set(error, "no session of '%s' has changed a file", project);
	if (other)
		return error_hint(error, "sessions were started in '%s': go there",
				  quote_display(error->arena, path_tilde(error->arena, other, home),
						0));
	return error_hint(error, "sessions are remembered from the first start with snapshots on; "
				 "a profile can switch them off with \"undo\": \"off\"");
}

const char *command_find_unchanged(const struct snapshot_command *command,
				   const file_changes *changes)
{
	struct text names = { .arena = command->arena };
	size_t count = 0;

	for (size_t i = 0; i < command->paths.count; i++) {
		if (changes_have(changes, command->paths.items[i]))
			continue;
		if (count++ < NAMED_PATHS)
			text_printf(&names, "%s'%s'", names.length ? ", " : "",
				    quote_display(command->arena,
						  command->config->arguments.items[i], 120));
	}
	if (count > NAMED_PATHS)
		text_printf(&names, " and %zu more", count - NAMED_PATHS);
	return count ? text_get(&names) : NULL;
}

const char *command_say_unsaved(const struct snapshot_command *command)
{
	if (command->unsaved_ms <= command->record->started_ms)
		return NULL;
	return arena_printf(command->arena,
			    "The last session (%s) was not saved: this is the one before it.",
			    command_show_time(command->arena, command->unsaved_ms));
}

// Finds the project and its snapshots.
bool command_prepare(struct snapshot_command *command, struct error *error)
{
	if (!plan_refuse_project(command->facts, error) ||
	    !plan_refuse_state(command->facts, error) || !read_paths(command, error))
		return false;
	probe_undo(command->facts, command->arena);
	command->undo = plan_undo_of(command->arena, command->facts);
	command->undo.ignored = command->config->undo_ignored;
	if (command->facts->state.kept_as)
		return command_refuse_nothing(command, error);
	if (command->undo.git)
		return true;
	error_set(error, "cannot find git");
	return error_hint(error, "install git; see claudebox --check");
}

// Returns a time for people.
const char *command_show_time(struct arena *arena, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[TIME_SIZE] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	return arena_strdup(arena, text);
}
