// SPDX-License-Identifier: MIT
// The report at the end of a session: collected from all parts, shown, and kept.
#include "report/report.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/guard/index.h"
#include "plan/plan.h"
#include "plan/report/executed.h"
#include "plan/report/report.h"
#include "plan/state/instances.h"
#include "render/report.h"
#include "report/killed.h"
#include "snapshot/changes.h"
#include "snapshot/pager.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/refs.h"
#include "snapshot/session.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KILLED                                                                               \
	"claudebox was killed in the last session: claudebox --diff shows what it changed, " \
	"claudebox --undo takes it back"

enum {
	MOST_FILES = 500,     // in the report
	MOST_EXECUTED = 200,  // in the report
	MOST_JUDGED = 50000,  // changed files
	MOST_COUNTED = 20000, // changed files whose lines are counted
	MOST_MOVED = 20,      // branches whose commits are counted
	MOST_READ = 200,      // files whose content is judged
	CONTENT_LIMIT = 1024 * 1024,
	WRITE_MS = 500,
	REPORT_LIMIT = 16 * 1024 * 1024,
};

// Returns the name of the report in the instance: each worktree has its own.
static const char *report_name(struct arena *arena, const char *project)
{
	return arena_printf(arena, INSTANCE_REPORT_PREFIX "%s.json", instance_id(arena, project));
}

// Leaves out new files that are older than the session.
static void drop_older(const struct store *store, struct arena *arena, file_changes *changes,
		       const struct session_record *record)
{
	struct known_files known = { .id = record->id, .started_ms = record->started_ms };
	file_changes kept = { 0 };

	vec_each(change, changes) {
		if (!changes_is_older(&known, store, arena, change))
			vec_push(arena, &kept, *change);
	}
	*changes = kept;
}

static const char *read_version(const struct store *store, struct arena *arena,
				const struct file_version *version)
{
	size_t length;

	return version->mode ? changes_read(store, arena, version->object, CONTENT_LIMIT, &length)
			     : NULL;
}

static bool is_new_link(const struct file_change *change)
{
	return (change->after.mode & GIT_MODE_TYPE) == GIT_MODE_SYMLINK;
}

// Returns whether a link leads out of the project, perhaps by way of another link. The file that it
// names may not exist yet.
static bool leads_out(struct arena *arena, const char *project, const char *link, const char *text)
{
	const char *full = path_join(arena, project, link);
	struct followed place = file_follow(arena, full);

	if (place.kind == FILE_MISSING && text && *text != '/')
		place = file_follow(arena,
				    path_parent(arena,
						path_join(arena, path_parent(arena, full), text)));
	return place.kind != FILE_MISSING && !path_within(place.real, project);
}

static void add_executed(struct report *report, const struct store *store, struct arena *arena,
			 const file_changes *changes)
{
	size_t read = 0;

	for (size_t i = 0; i < changes->count && i < MOST_JUDGED; i++) {
		const struct file_change *change = &changes->items[i];
		struct change_content content = { 0 };
		struct executed executed;

		if (executed_needs_content(change) && read++ < MOST_READ)
			content = (struct change_content){
				.before = read_version(store, arena, &change->before),
				.after = read_version(store, arena, &change->after),
			};
		content.leads_out = is_new_link(change) &&
				    leads_out(arena, store->project, change->path, content.after);
		if (!executed_judge(arena, change, &content, &executed))
			continue;
		if (report->executed_count++ < MOST_EXECUTED)
			vec_push(arena, &report->executed, executed);
	}
	executed_sort(&report->executed);
}

// Adds the hooks that the user has excepted from the protection.
static void add_hooks(struct report *report, const strings *hooks, struct arena *arena)
{
	vec_each(hook, hooks) {
		report->executed_count++;
		vec_push(arena, &report->executed,
			 (struct executed){ *hook, RUN_WITHOUT_ASKING, "git runs it" });
	}
	executed_sort(&report->executed);
}

// Counts the commits of branches that have moved.
static void count_moved(struct report *report, const struct store *store, struct arena *arena,
			const char *git_directory)
{
	size_t counted = 0;

	vec_each(ref, &report->refs) {
		if (ref->created || ref->deleted || !str_starts(ref->name, "refs/heads/") ||
		    counted++ == MOST_MOVED)
			continue;
		ref->counted = refs_count_moved(store, arena, git_directory, ref->before,
						ref->after, &ref->gained, &ref->lost);
	}
}

// Puts branches that lost commits first, then what was deleted. The order is else kept.
static void sort_refs(struct report *report, struct arena *arena)
{
	__typeof__(report->refs) sorted = { 0 };

	for (int rank = 0; rank < 3; rank++) {
		vec_each(ref, &report->refs) {
			if (rank == (ref->lost ? 0 : ref->deleted ? 1 : 2))
				vec_push(arena, &sorted, *ref);
		}
	}
	report->refs = sorted;
}

static void add_refs(struct report *report, const struct session_record *record,
		     struct arena *arena)
{
	report->operations =
		operations_compare(arena, &record->operations_before, &record->operations_after);
	report->index_changed = session_changed_index(record);
	report->other = record->other;
	report->repository_lost = refs_are_lost(&record->refs_before, &record->refs_after);
	if (report->repository_lost)
		return;
	vec_each(ref, &record->refs_after) {
		const char *before = refs_value(&record->refs_before, ref->name);

		if (!str_equal(before, ref->value) && !str_equal(ref->name, "HEAD"))
			vec_push(arena, &report->refs,
				 (struct report_ref){ .name = ref->name,
						      .created = !before,
						      .before = before,
						      .after = ref->value });
	}
	vec_each(ref, &record->refs_before) {
		if (!refs_value(&record->refs_after, ref->name))
			vec_push(arena, &report->refs,
				 (struct report_ref){ .name = ref->name,
						      .deleted = true,
						      .before = ref->value });
	}
}

static int compare_sizes(const void *a, const void *b)
{
	const struct file_change *first = a, *second = b;
	size_t one = first->added + first->removed, other = second->added + second->removed;

	return one != other ? (one < other) - (one > other) : strcmp(first->path, second->path);
}

static int compare_paths(const void *a, const void *b)
{
	const struct file_change *first = a, *second = b;

	return strcmp(first->path, second->path);
}

// Adds the files with the largest changes, sorted by path.
static void add_files(struct report *report, struct arena *arena, const file_changes *changes)
{
	file_changes *files = &report->files;

	report->file_count = changes->count;
	report->counted = changes->count <= MOST_COUNTED;
	vec_each(change, changes) {
		report->added += change->added;
		report->removed += change->removed;
		vec_push(arena, files, *change);
	}
	if (files->count <= MOST_FILES)
		return;
	qsort(files->items, files->count, sizeof(files->items[0]), compare_sizes);
	files->count = MOST_FILES;
	qsort(files->items, files->count, sizeof(files->items[0]), compare_paths);
}

void report_add_changes(struct report *report, const struct plan *plan,
			const struct session_record *record, struct arena *arena)
{
	const struct plan_undo *undo = &plan->undo;
	struct error error = { .arena = arena };
	struct store store = STORE_NONE;
	file_changes changes = { 0 };

	if (!record)
		return;
	report->started_ms = record->started_ms;
	report->ended_ms = record->ended_ms;
	report->killed = record->killed;
	report->left_out = record->left_out_count;
	report->left_out_paths = record->left_out;
	if (store_open(&store, undo->git, undo->path, plan->project, false, &error) &&
	    (!record->before ||
	     changes_list(&store, record->before, record->after, NULL, &changes, &error))) {
		report->saved = true;
		if (changes.count && changes.count <= MOST_COUNTED)
			changes_count_lines(&store, arena, record->before, record->after, &changes);
		drop_older(&store, arena, &changes, record);
		add_executed(report, &store, arena, &changes);
		add_hooks(report, &record->other.hooks, arena);
		add_files(report, arena, &changes);
		add_refs(report, record, arena);
		if (undo->git_directory)
			count_moved(report, &store, arena, undo->git_directory);
		sort_refs(report, arena);
		report->commits = undo->git_directory
					  ? refs_count_commits(&store, arena, undo->git_directory,
							       &record->refs_before,
							       &record->refs_after)
					  : 0;
	}
	store_close(&store);
	if (error.message)
		output_message("report", "%s", error.message);
}

void report_write(const struct report *report, const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int instance = file_open(AT_FDCWD, plan->state.instance, O_RDONLY | O_DIRECTORY);
	const char *text = render_report_json(arena, report);
	struct error error = { .arena = arena };

	if (instance < 0 ||
	    !replace_file(instance, report_name(arena, plan->project), text, &error))
		output_message("report", "cannot keep the report: %s",
			       error.message ? error.message : strerror(errno));
	if (plan->config->report && !write_all(plan->config->report, text, strlen(text)))
		output_message("claudebox", "cannot write the report: %s", strerror(errno));
}

// Returns whether stderr takes text: a terminal that the user has stopped does not, and claudebox
// must end all the same.
static bool is_writable(void)
{
	struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&wait, 1, WRITE_MS) > 0;
}

void report_print(const struct report *report, const struct plan *plan, struct arena *arena)
{
	struct reader reader = output_reader(STDERR_FILENO);
	bool short_form = !reader.terminal || claude_words_print(&plan->config->arguments);
	const char *text;

	if (plan->config->audit == AUDIT_QUIET || !is_writable())
		return;
	text = short_form ? render_report_line(arena, report)
			  : render_report_end(arena, report, reader);
	if (text && short_form)
		output_message("report", "%s", text);
	else if (text)
		fputs(text, stderr);
}

bool report_command(const struct config *config, const struct facts *facts, struct arena *arena,
		    int *ret_status, struct error *error)
{
	const char *instance = plan_instance_path(arena, facts);
	const char *snapshots = arena_printf(arena, "%s/" INSTANCE_SNAPSHOTS "/%s", instance,
					     instance_id(arena, facts->project));
	const char *path;
	const char *text;
	struct report report = { 0 };

	*ret_status = 0;
	if (!plan_refuse_project(facts, error) || !plan_refuse_state(facts, error))
		return false;
	path = path_join(arena, instance, report_name(arena, facts->project));
	text = facts->state.kept_as ? NULL : file_read(arena, path, REPORT_LIMIT, 0);
	if (!text || !report_parse(arena, text, &report)) {
		error_set(error, "there is no report of a session in '%s'",
			  quote_display(arena, path_tilde(arena, facts->project, facts->home), 0));
		return error_hint(error, !facts->state.kept_as && killed_since(arena, snapshots, 0)
						 ? KILLED
						 : "a report is kept when a session ends");
	}
	report.snapshots_removed = report.saved && access(snapshots, F_OK) < 0;
	report.later_killed = report.ended_ms && killed_since(arena, snapshots, report.ended_ms);
	return config->output == OUTPUT_JSON
		       ? output_print(STDOUT_FILENO, text, error)
		       : pager_show(arena,
				    render_report(arena, &report, output_reader(STDOUT_FILENO)),
				    error);
}
