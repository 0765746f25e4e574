// SPDX-License-Identifier: MIT
// The report at the end of a session as text.
#include "render/report.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "plan/report/executed.h"
#include "plan/report/report.h"
#include "render/changes.h"
#include "render/instances.h"
#include "render/report_repository.h"

#include <string.h>

enum {
	INDENT = 2,
	FILE_INDENT = 4,
	END_ROWS = 6,
	NAME_COLUMNS = 40,
	DISCARDED_COLUMNS = 60,
	ALL = 100000,
	USUAL_ROWS = 24, // of a terminal
	LAST_ROWS = 5, // below the files: their rest, what is not known, advice, resume, the prompt
};

static bool is_empty(const struct report *report)
{
	return !report->file_count && !report->commits && !report->executed_count &&
	       !render_has_repository_changes(report);
}

static const char *count_lines(struct arena *arena, const struct report *report)
{
	const char *files =
		arena_printf(arena, "%s changed", render_count(arena, report->file_count, "file"));

	if (!report->counted)
		return files;
	return arena_printf(arena, "%s, %s, %s", files,
			    render_count(arena, report->added, "insertion"),
			    render_count(arena, report->removed, "deletion"));
}

static const char *describe(struct arena *arena, const struct report *report, size_t refs)
{
	const char *names = render_repository_changes(arena, report, refs);
	struct text out = { .arena = arena };

	if (report->file_count)
		text_add(&out, count_lines(arena, report));
	if (report->commits)
		text_printf(&out, "%s%s", out.length ? "; " : "",
			    render_count(arena, report->commits, "commit"));
	if (names)
		text_printf(&out, "%s%s", out.length ? "; " : "", names);
	return out.length ? text_get(&out) : "no file of the project was changed";
}

// Adds the files that programs of the host may execute.
static void add_executed(struct screen *screen, const struct report *report, size_t most)
{
	struct arena *arena = screen->arena;
	size_t columns = 0;
	size_t count = report->executed.count < most ? report->executed.count : most;

	for (size_t i = 0; i < count; i++) {
		size_t width = screen_width(
			screen, quote_word(arena, report->executed.items[i].path, NAME_COLUMNS));

		columns = width > columns ? width : columns;
	}
	screen_add_wrapped(screen, STYLE_HEAD,
			   "Your programs may execute or trust these changes:", 0);
	for (size_t i = 0; i < count; i++) {
		const struct executed *file = &report->executed.items[i];
		const char *name = quote_word(arena, file->path, NAME_COLUMNS);
		size_t used = INDENT + columns + 2;

		screen_add_blanks(screen, INDENT);
		screen_add(screen, file->rank == RUN_WITHOUT_ASKING ? STYLE_DANGER : STYLE_WARN,
			   name);
		screen_add_blanks(screen, columns - screen_width(screen, name) + 2);
		screen_add_words(screen, STYLE_PLAIN, file->why, used, used);
		screen_end_line(screen, 0);
	}
	if (report->executed_count > count)
		screen_add_wrapped(screen, STYLE_DIM,
				   arena_printf(arena, "  and %zu more: `claudebox --report`",
						report->executed_count - count),
				   INDENT);
}

// Adds what the report does not know.
static void add_limits(struct screen *screen, const struct report *report)
{
	if (report->left_out)
		screen_add_wrapped(
			screen, STYLE_WARN,
			arena_printf(screen->arena,
				     "%s could not be saved, so changes of %s are not known: %s",
				     render_count(screen->arena, report->left_out, "path"),
				     report->left_out == 1 ? "it" : "them",
				     render_some_paths(screen->arena, &report->left_out_paths,
						       report->left_out)),
			0);
	if (!report->saved)
		screen_add_wrapped(screen, STYLE_WARN,
				   "the project was not saved at the start: changes of its files "
				   "are not known",
				   0);
}

// Returns "/tmp/a, /tmp/out/ (33 files) and 5 more": as many as one line has room for.
static const char *name_discarded(struct arena *arena, const struct discarded *discarded)
{
	struct text out = { .arena = arena };
	size_t named = 0;

	vec_each(name, &discarded->names) {
		const char *path = quote_word(arena, name->path, NAME_COLUMNS);

		if (name->count > 1)
			path = arena_printf(arena, "%s (%zu files)", path, name->count);
		if (named && out.length + strlen(path) > DISCARDED_COLUMNS)
			break;
		text_printf(&out, "%s%s", named ? ", " : "", path);
		named += name->count;
	}
	if (named < discarded->count)
		text_printf(&out, "%s%zu more", named ? " and " : "", discarded->count - named);
	return text_get(&out);
}

// Returns the line about files that ended with the box, NULL: there were none.
static const char *describe_discarded(struct arena *arena, const struct discarded *discarded)
{
	if (!discarded->count)
		return NULL;
	return arena_printf(arena, "deleted with the box: %s (%s%s, %s)",
			    name_discarded(arena, discarded),
			    discarded->incomplete ? "at least " : "",
			    render_count(arena, discarded->count, "file"),
			    render_size(arena, discarded->size));
}

static void add_discarded(struct screen *screen, const struct report *report)
{
	const char *line = describe_discarded(screen->arena, &report->discarded);

	if (line)
		screen_add_wrapped(screen, STYLE_PLAIN, line, INDENT);
}

static const char *advice(const struct report *report)
{
	if (!report->file_count && report->repository_lost)
		return "claudebox cannot restore a repository: use another clone or a backup";
	if (!report->file_count && report->refs.count)
		return "`claudebox --undo=commits` restores branches and tags";
	if (!report->file_count)
		return report->index_changed || report->operations.count
			       ? "`claudebox --undo=commits` takes this back"
			       : NULL;
	return "`claudebox --diff` shows the changes, `claudebox --undo` takes them back";
}

static bool is_executed(const struct report *report, const char *path)
{
	vec_each(file, &report->executed) {
		if (str_equal(file->path, path))
			return true;
	}
	return false;
}

static size_t count_changed_lines(const struct file_change *change)
{
	return change->added + change->removed;
}

// Moves the largest changes to the front, and drops the others. Equal ones keep their order.
static void keep_largest(file_changes *changes, size_t count)
{
	for (size_t i = 0; i < count && i < changes->count; i++) {
		struct file_change largest;
		size_t at = i;

		for (size_t j = i + 1; j < changes->count; j++)
			if (count_changed_lines(&changes->items[j]) >
			    count_changed_lines(&changes->items[at]))
				at = j;
		largest = changes->items[at];
		memmove(&changes->items[i + 1], &changes->items[i], (at - i) * sizeof(largest));
		changes->items[i] = largest;
	}
	changes->count = changes->count < count ? changes->count : count;
}

static size_t count_rows(const char *text)
{
	size_t rows = 0;

	for (; *text; text++)
		rows += *text == '\n';
	return rows;
}

// Adds the files that nothing executes, the largest changes first, as many as one screen has room
// for.
static void add_ordinary(struct screen *screen, const struct report *report, size_t screen_rows)
{
	struct arena *arena = screen->arena;
	size_t all = screen_rows && screen_rows < USUAL_ROWS ? screen_rows : USUAL_ROWS;
	size_t used = count_rows(text_get(&screen->out)) + LAST_ROWS;
	size_t executed = report->executed_count - report->other.hooks.count;
	size_t ordinary = report->file_count -
			  (executed < report->file_count ? executed : report->file_count);
	file_changes shown = { 0 };

	vec_each(change, &report->files) {
		if (!is_executed(report, change->path))
			vec_push(arena, &shown, *change);
	}
	if (!shown.count || used >= all)
		return;
	keep_largest(&shown, all - used);
	if (report->executed.count)
		screen_add_wrapped(screen, STYLE_HEAD, "Other changes:", 0);
	render_statistics_add(screen, &shown);
	if (ordinary > shown.count)
		screen_add_wrapped(screen, STYLE_DIM,
				   arena_printf(arena, " and %zu more: `claudebox --diff=stat`",
						ordinary - shown.count),
				   INDENT);
}

const char *render_report_end(struct arena *arena, const struct report *report,
			      struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	if (is_empty(report) || !report->saved) {
		add_discarded(&screen, report);
		return report->discarded.count ? text_get(&screen.out) : NULL;
	}
	screen_add_wrapped(&screen, STYLE_HEAD,
			   arena_printf(arena, "Session: %s", describe(arena, report, 3)), INDENT);
	add_discarded(&screen, report);
	if (report->executed.count)
		add_executed(&screen, report, END_ROWS);
	if (report->files.count)
		add_ordinary(&screen, report, reader.rows);
	add_limits(&screen, report);
	if (advice(report))
		screen_add_wrapped(&screen, STYLE_DIM, advice(report), 0);
	return text_get(&screen.out);
}

const char *render_report_line(struct arena *arena, const struct report *report)
{
	const char *discarded = describe_discarded(arena, &report->discarded);
	const char *executed = "";

	if (is_empty(report) || !report->saved)
		return discarded;
	if (report->executed_count)
		executed = arena_printf(arena, "; %s that your programs may execute or trust",
					render_count(arena, report->executed_count, "file"));
	if (discarded)
		discarded = arena_printf(arena, "; %s deleted with the box",
					 render_count(arena, report->discarded.count, "file"));
	return arena_printf(arena, "%s%s%s (claudebox --report)", describe(arena, report, 3),
			    executed, discarded ? discarded : "");
}

static void add_files(struct screen *screen, const struct report *report)
{
	struct arena *arena = screen->arena;

	screen_add_wrapped(screen, STYLE_HEAD, "Files:", 0);
	vec_each(change, &report->files) {
		const char *what = !change->before.mode  ? "new"
				   : !change->after.mode ? "deleted"
							 : "changed";

		screen_add_blanks(screen, INDENT);
		screen_add_broken(screen, STYLE_PLAIN,
				  change->counted && !change->binary
					  ? arena_printf(arena, "%s (%s, +%zu -%zu)",
							 quote_word(arena, change->path, 0), what,
							 change->added, change->removed)
					  : arena_printf(arena, "%s (%s%s)",
							 quote_word(arena, change->path, 0), what,
							 change->binary ? ", binary" : ""),
				  FILE_INDENT, INDENT);
		screen_end_line(screen, 0);
	}
	if (report->file_count > report->files.count)
		screen_add_wrapped(screen, STYLE_DIM,
				   arena_printf(arena, "  and %zu more: `claudebox --diff=stat`",
						report->file_count - report->files.count),
				   INDENT);
}

const char *render_report(struct arena *arena, const struct report *report, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	if (report->later_killed)
		screen_add_wrapped(&screen, STYLE_WARN,
				   "claudebox was killed in a later session, which has no report: "
				   "`claudebox --diff` shows what it changed, `claudebox --undo` "
				   "takes it back",
				   0);
	if (is_empty(report) && !report->moved.count && !report->network && report->saved &&
	    !report->discarded.count)
		screen_add_wrapped(&screen, STYLE_PLAIN, "the last session has changed nothing", 0);
	else if (report->saved || !is_empty(report)) // otherwise add_limits() says it
		screen_add_wrapped(&screen, STYLE_HEAD,
				   arena_printf(arena, "Session: %s",
						is_empty(report) ? "no file was changed"
								 : describe(arena, report, ALL)),
				   INDENT);
	if (report->killed)
		screen_add_wrapped(&screen, STYLE_WARN,
				   "claudebox was killed: all changes since the start of the "
				   "session count",
				   0);
	vec_each(moved, &report->moved)
		screen_add_wrapped(&screen, STYLE_WARN,
				   arena_printf(arena, "in quarantine: %s",
						quote_word(arena, moved->path, 0)),
				   INDENT);
	if (report->network)
		screen_add_wrapped(&screen, STYLE_PLAIN, report->network, INDENT);
	add_discarded(&screen, report);
	if (report->executed.count)
		add_executed(&screen, report, ALL);
	if (report->files.count)
		add_files(&screen, report);
	add_limits(&screen, report);
	if (report->snapshots_removed && !is_empty(report))
		screen_add_wrapped(&screen, STYLE_WARN,
				   "the snapshots were removed: these changes cannot be shown or "
				   "taken back any more",
				   0);
	else if (report->saved && !is_empty(report) && advice(report))
		screen_add_wrapped(&screen, STYLE_DIM, advice(report), 0);
	if (report->resume)
		screen_add_wrapped(&screen, STYLE_DIM,
				   arena_printf(arena, "`claudebox --resume %s` resumes it",
						quote_word(arena, report->resume, 60)),
				   0);
	return text_get(&screen.out);
}
