// SPDX-License-Identifier: MIT
// The command --quarantine: lists the items, puts one back, or removes all.
//
// Theory of operation: numbers of the list stay the same while boxes run, because new items come
// last. An item is put back only while no box of the project runs: its guard would move it again.
// The lock is released while the user is asked, so that a start does not wait for the answer.
#include "guard/quarantine/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "guard/quarantine/inspect.h"
#include "guard/quarantine/quarantine.h"
#include "guard/quarantine/restore.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "render/difference.h"
#include "render/instances.h"
#include "render/quarantine.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Entries of directories that one command counts.
enum { ENTRIES_MAX = 200 * 1000 };

struct session {
	const struct config *config;
	const struct facts *facts;
	struct arena *arena;
	const char *instance;
	int quarantine; // -1: there is none
	quarantine_items items;
};

// Opens the quarantine of the project and lists it. The state of an earlier directory at the same
// path is not that of the project.
static bool open_session(struct session *session, struct error *error)
{
	const struct facts *facts = session->facts;

	if (!plan_refuse_project(facts, error) || !plan_refuse_state(facts, error))
		return false;
	session->instance = plan_instance_path(session->arena, facts);
	if (facts->state.kept_as)
		return true;
	session->quarantine = quarantine_find(session->instance);
	if (session->quarantine >= 0)
		session->items = quarantine_list(session->quarantine, session->arena);
	else if (errno != ENOENT)
		return write_fail(error, "open",
				  path_join(session->arena, session->instance,
					    INSTANCE_QUARANTINE));
	return true;
}

static struct inspection inspection_of(const struct session *session)
{
	return (struct inspection){ .arena = session->arena,
				    .project = session->facts->project,
				    .quarantine = session->quarantine,
				    .path = path_join(session->arena, session->instance,
						      INSTANCE_QUARANTINE),
				    .budget = ENTRIES_MAX };
}

static bool print_list(const struct session *session, struct error *error)
{
	struct inspection inspection = inspection_of(session);
	struct reader reader = output_reader(STDOUT_FILENO);
	quarantine_rows rows = { 0 };

	vec_each(item, &session->items)
		vec_push(session->arena, &rows, inspect_item(&inspection, item, rows.count + 1));
	return output_print(STDOUT_FILENO,
			    session->config->output == OUTPUT_JSON
				    ? render_quarantine_json(session->arena, &rows)
				    : render_quarantine(session->arena, &rows, session->facts->home,
							reader),
			    error);
}

// Finds the item with a number or an id. Returns its index, or the number of items with an error.
static size_t find_item(const struct session *session, struct error *error)
{
	const char *word = session->config->quarantine;
	size_t count = session->items.count;
	bool is_id = strchr(word, '-') != NULL;
	unsigned long long number = is_id ? 0 : strtoull(word, NULL, 10);

	for (size_t i = 0; i < count; i++)
		if (is_id ? str_equal(session->items.items[i].id, word) : number == i + 1)
			return i;
	error_set(error, "there is no item %s in the quarantine of this project",
		  quote_display(error->arena, word, 60));
	error->status = EXIT_USAGE;
	if (count)
		error_hint(error, "numbers are 1 to %zu: see claudebox --quarantine", count);
	else
		error_hint(error, "the quarantine of this project is empty");
	return count;
}

// Takes the lock of the instance. Returns -1 with an error if a box of the project runs.
static int lock(const struct session *session, const struct quarantined *item, struct error *error)
{
	CLEANUP_FD int instance = file_open(AT_FDCWD, session->instance, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int taken = instance < 0 ? -1 : lock_exclusively(instance, INSTANCE_LOCK);
	const char *path = quote_display(error->arena, item->path, 0);

	if (taken >= 0)
		return take_fd(&taken);
	if (errno != EWOULDBLOCK) {
		write_fail(error, "lock", session->instance);
		return -1;
	}
	error_set(error, "cannot put back '%s': a box of this project runs", path);
	error_hint(error, "end the box first: its guard would move the file again, unless the box "
			  "was started with --unprotect");
	return -1;
}

static bool confirm(const char *question, const char *declined, struct error *error)
{
	bool yes = false;

	if (!ask_yes_no(question, &yes, error))
		return error_hint(error, "review `claudebox --quarantine`, then use --yes");
	if (yes)
		return true;
	error_set(error, "%s", declined);
	return error_hint(error, "the quarantine is as it was");
}

// Shows an item and asks whether to put it back.
static bool ask_restore(const struct session *session, size_t index, struct error *error)
{
	struct inspection inspection = inspection_of(session);
	struct quarantine_row row =
		inspect_item(&inspection, &session->items.items[index], index + 1);

	return output_print(STDERR_FILENO,
			    render_quarantine_row(session->arena, &row, session->facts->home,
						  output_reader(STDERR_FILENO)),
			    error) &&
	       confirm(!row.in_part   ? "Put it back?"
		       : row.settings ? "Add these settings to the file at its place?"
				      : "The file at its place has its settings. Remove the item?",
		       "nothing was put back", error);
}

// Names what can be done with an item that cannot be put back. Returns false.
static bool hint_unreachable(const struct session *session, const struct quarantined *item,
			     struct error *error)
{
	const char *file = arena_printf(error->arena,
					"%s/" INSTANCE_QUARANTINE "/%s/" QUARANTINE_ITEM,
					session->instance, item->id);

	return error_hint(
		error,
		"the item is %s; create the directory that it was in, or remove all items "
		"with claudebox --quarantine=clear",
		quote_word(error->arena, path_tilde(error->arena, file, session->facts->home), 0));
}

// Offers to remove an item whose place cannot be reached, for example because its repository is
// gone. --yes does not: it was given to put the item back. Keeps the error if nothing was asked.
static bool offer_removal(const struct session *session, size_t index, struct error *error)
{
	const struct quarantined *item = &session->items.items[index];
	struct inspection inspection = inspection_of(session);
	struct quarantine_row row = inspect_item(&inspection, item, index + 1);

	if (!row.obstacle)
		return false;
	if (session->config->yes || !ask_possible())
		return hint_unreachable(session, item, error);
	if (!output_print(STDERR_FILENO,
			  render_quarantine_row(session->arena, &row, session->facts->home,
						output_reader(STDERR_FILENO)),
			  error) ||
	    !confirm("It cannot be put back. Remove the item permanently?", "nothing was removed",
		     error) ||
	    !remove_tree(session->quarantine, item->id, error))
		return false;
	return output_print(STDOUT_FILENO, "Removed the item.\n", error);
}

static const char *describe_restored(const struct session *session, const char *path,
				     const struct restored *restored)
{
	struct arena *arena = session->arena;
	const char *shown = quote_word(arena, path_tilde(arena, path, session->facts->home), 0);

	if (!restored->in_part)
		return arena_printf(arena, "Put back %s.\n", shown);
	if (!restored->settings)
		return arena_printf(arena, "%s had all settings; the item was removed.\n", shown);
	return arena_printf(arena, "Wrote %s to %s.\n",
			    render_count(arena, restored->settings, "setting"), shown);
}

static bool put_back(const struct session *session, struct error *error)
{
	size_t index = find_item(session, error);
	const struct quarantined *item = session->items.items + index;
	const char *project = session->facts->project;
	struct restored restored;
	CLEANUP_FD int held = -1;

	if (index == session->items.count)
		return false;
	held = lock(session, item, error);
	if (held < 0)
		return false;
	if (!restore_check(session->quarantine, project, item, error)) {
		close(take_fd(&held));
		return offer_removal(session, index, error);
	}
	if (!session->config->yes) {
		close(take_fd(&held));
		if (!ask_restore(session, index, error))
			return false;
		held = lock(session, item, error);
		if (held < 0)
			return false;
	}
	if (!restore_item(session->quarantine, project, item, &restored, error))
		return false;
	quarantine_clean(session->quarantine, session->arena);
	return output_print(STDOUT_FILENO, describe_restored(session, item->path, &restored),
			    error);
}

// Removes all items that were listed.
static bool clear(const struct session *session, int *ret_status, struct error *error)
{
	struct arena *arena = session->arena;
	struct inspection inspection = inspection_of(session);
	struct sample sum = { 0 };
	size_t removed = 0;
	const char *count;

	if (!session->items.count)
		return print_list(session, error);
	vec_each(item, &session->items)
		inspect_add_size(&inspection, item, &sum);
	count = render_count(arena, session->items.count, "item");
	if (!session->config->yes &&
	    !confirm(arena_printf(arena, "Permanently remove %s (%s%s) of the quarantine?", count,
				  sum.incomplete ? "at least " : "", render_size(arena, sum.size)),
		     "nothing was removed", error))
		return false;
	vec_each(item, &session->items) {
		struct error problem = { .arena = arena };

		if (remove_tree(session->quarantine, item->id, &problem)) {
			removed++;
			continue;
		}
		output_error(&problem);
		*ret_status = EXIT_CHECK_FAILED;
	}
	return output_print(
		STDOUT_FILENO,
		arena_printf(arena, "Removed %s.\n", render_count(arena, removed, "item")), error);
}

bool quarantine_command(const struct config *config, const struct facts *facts, struct arena *arena,
			int *ret_status, struct error *error)
{
	struct session session = {
		.config = config, .facts = facts, .arena = arena, .quarantine = -1
	};
	bool ok = open_session(&session, error);

	if (ok && !config->quarantine)
		ok = print_list(&session, error);
	else if (ok && str_equal(config->quarantine, QUARANTINE_CLEAR))
		ok = clear(&session, ret_status, error);
	else if (ok)
		ok = put_back(&session, error);
	if (session.quarantine >= 0)
		close(session.quarantine);
	return ok;
}
