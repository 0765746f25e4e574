// SPDX-License-Identifier: MIT
// The report at the end of a session as JSON, and its parser.
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/report/executed.h"
#include "plan/report/report.h"
#include "render/instances.h"
#include "render/report.h"

#include <jansson.h>

enum { VERSION = 1 };

static json_t *count_or_null(bool known, size_t count)
{
	return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *files_value(struct arena *arena, const struct report *report)
{
	json_t *list = json_array();

	vec_each(change, &report->files)
		json_array_append_new(
			list,
			json_pack("{s:o, s:s, s:b, s:o, s:o}", "path",
				  render_path_value(arena, change->path), "change",
				  !change->before.mode  ? "new"
				  : !change->after.mode ? "deleted"
							: "changed",
				  "binary", (int)change->binary, "added",
				  count_or_null(change->counted && !change->binary, change->added),
				  "removed",
				  count_or_null(change->counted && !change->binary,
						change->removed)));
	return json_pack("{s:I, s:o, s:o, s:o}", "count", (json_int_t)report->file_count, "added",
			 count_or_null(report->counted, report->added), "removed",
			 count_or_null(report->counted, report->removed), "list", list);
}

static json_t *executed_value(struct arena *arena, const struct report *report)
{
	json_t *list = json_array();

	vec_each(file, &report->executed)
		json_array_append_new(list,
				      json_pack("{s:o, s:s, s:s}", "path",
						render_path_value(arena, file->path), "when",
						run_rank_names[file->rank], "why", file->why));
	return json_pack("{s:I, s:o}", "count", (json_int_t)report->executed_count, "list", list);
}

static json_t *refs_value(struct arena *arena, const struct report *report)
{
	json_t *list = json_array();

	vec_each(ref, &report->refs)
		json_array_append_new(
			list, json_pack("{s:o, s:s, s:s?, s:s?, s:o, s:o}", "name",
					render_path_value(arena, ref->name), "change",
					ref->created   ? "new"
					: ref->deleted ? "deleted"
						       : "moved",
					"before", ref->before, "after", ref->after, "new_commits",
					count_or_null(ref->counted, ref->gained), "lost_commits",
					count_or_null(ref->counted, ref->lost)));
	return list;
}

static json_t *moved_value(struct arena *arena, const struct report *report)
{
	json_t *list = json_array();

	vec_each(moved, &report->moved)
		json_array_append_new(list, json_pack("{s:o, s:s?}", "path",
						      render_path_value(arena, moved->path), "id",
						      moved->id));
	return list;
}

static json_t *discarded_value(struct arena *arena, const struct discarded *discarded)
{
	json_t *list = json_array();
	json_t *names = json_array();

	vec_each(name, &discarded->names)
		json_array_append_new(names, json_pack("{s:o, s:I}", "path",
						       render_path_value(arena, name->path),
						       "count", (json_int_t)name->count));
	vec_each(file, &discarded->files)
		json_array_append_new(list, json_pack("{s:o, s:I}", "path",
						      render_path_value(arena, file->path), "size",
						      (json_int_t)file->size));
	return json_pack("{s:I, s:I, s:b, s:o, s:o}", "count", (json_int_t)discarded->count, "size",
			 (json_int_t)discarded->size, "incomplete", (int)discarded->incomplete,
			 "list", list, "names", names);
}

static json_t *paths_value(struct arena *arena, const strings *paths)
{
	json_t *list = json_array();

	vec_each(path, paths)
		json_array_append_new(list, render_path_value(arena, *path));
	return list;
}

// Adds what is told about repositories besides branches and tags.
static void add_repositories(json_t *all, struct arena *arena, const struct report *report)
{
	json_t *operations = json_array(), *nested = json_array();

	vec_each(operation, &report->operations)
		json_array_append_new(operations,
				      json_pack("{s:s, s:s}", "name", operation->name, "change",
						operation_change_names[operation->change]));
	vec_each(repository, &report->other.nested)
		json_array_append_new(
			nested,
			json_pack("{s:o, s:s}", "path", render_path_value(arena, repository->path),
				  "change", repository_change_names[repository->change]));
	json_object_set_new(all, "operations", operations);
	json_object_set_new(all, "index_changed", json_boolean(report->index_changed));
	json_object_set_new(all, "repositories", nested);
	json_object_set_new(all, "repository_created", json_boolean(report->other.created));
	json_object_set_new(all, "stashes_dropped", paths_value(arena, &report->other.stashes));
	json_object_set_new(all, "settings", paths_value(arena, &report->settings));
}

const char *render_report_json(struct arena *arena, const struct report *report)
{
	json_t *refused = report->refused ? json_loads(report->refused, 0, NULL) : json_null();
	JSON_OWNED *all = json_pack(
		"{s:i, s:i, s:{s:s?, s:o, s:s?}, s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:I, s:o, s:b, s:s?}",
		"version", VERSION, "status", report->status, "network", "tier", report->tier,
		"refused", refused ? refused : json_null(), "line", report->network, "started_ms",
		(json_int_t)report->started_ms, "ended_ms", (json_int_t)report->ended_ms, "saved",
		(int)report->saved, "killed", (int)report->killed, "quarantined",
		moved_value(arena, report), "executed", executed_value(arena, report), "files",
		files_value(arena, report), "commits", (json_int_t)report->commits, "references",
		refs_value(arena, report), "repository_lost", (int)report->repository_lost,
		"resume", report->resume);

	json_object_set_new(all, "not_saved", json_integer((json_int_t)report->left_out));
	json_object_set_new(all, "not_saved_paths", paths_value(arena, &report->left_out_paths));
	json_object_set_new(all, "discarded", discarded_value(arena, &report->discarded));
	add_repositories(all, arena, report);
	return json_write(arena, all, JSON_COMPACT | JSON_ENSURE_ASCII);
}

static const char *copy(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static size_t number(const json_t *object, const char *key)
{
	return (size_t)json_integer_value(json_object_get(object, key));
}

static void parse_files(struct arena *arena, const json_t *files, struct report *report)
{
	json_t *row;
	size_t i;

	report->file_count = number(files, "count");
	report->counted = json_is_integer(json_object_get(files, "added"));
	report->added = number(files, "added");
	report->removed = number(files, "removed");
	json_array_foreach(json_object_get(files, "list"), i, row) {
		const char *change = json_string_value(json_object_get(row, "change"));

		vec_push(arena, &report->files,
			 (struct file_change){
				 .path = copy(arena, row, "path"),
				 .before.mode = !str_equal(change, "new"),
				 .after.mode = !str_equal(change, "deleted"),
				 .counted = json_is_integer(json_object_get(row, "added")),
				 .binary = json_is_true(json_object_get(row, "binary")),
				 .added = number(row, "added"),
				 .removed = number(row, "removed") });
	}
}

static void parse_executed(struct arena *arena, const json_t *executed, struct report *report)
{
	json_t *row;
	size_t i;

	report->executed_count = number(executed, "count");
	json_array_foreach(json_object_get(executed, "list"), i, row) {
		const char *when = json_string_value(json_object_get(row, "when"));
		enum run_rank rank = RUN_WITHOUT_ASKING;

		while (rank + 1 < RUN_RANK_COUNT && !str_equal(run_rank_names[rank], when))
			rank++;
		vec_push(arena, &report->executed,
			 (struct executed){ .path = copy(arena, row, "path"),
					    .rank = rank,
					    .why = copy(arena, row, "why") });
	}
}

static void parse_discarded(struct arena *arena, const json_t *all, struct discarded *discarded)
{
	json_t *row;
	size_t i;

	discarded->count = number(all, "count");
	discarded->size = number(all, "size");
	discarded->incomplete = json_is_true(json_object_get(all, "incomplete"));
	json_array_foreach(json_object_get(all, "names"), i, row) {
		const char *path = copy(arena, row, "path");

		if (path)
			vec_push(arena, &discarded->names,
				 (struct discarded_name){ .path = path,
							  .count = number(row, "count") });
	}
	json_array_foreach(json_object_get(all, "list"), i, row) {
		const char *path = copy(arena, row, "path");

		if (path)
			vec_push(arena, &discarded->files,
				 (struct discarded_file){ path, number(row, "size") });
	}
}

// Returns the number of a name in a list.
static int find_name(const char *const *names, int count, const char *name)
{
	int i = 0;

	while (i + 1 < count && !str_equal(names[i], name))
		i++;
	return i;
}

static strings parse_strings(struct arena *arena, const json_t *list)
{
	strings all = { 0 };
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		if (json_is_string(row))
			vec_push(arena, &all, arena_strdup(arena, json_string_value(row)));
	}
	return all;
}

static void parse_repositories(struct arena *arena, const json_t *all, struct report *report)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(all, "operations"), i, row) {
		const char *change = json_string_value(json_object_get(row, "change"));
		int found = find_name(operation_change_names, OPERATION_CHANGE_COUNT, change);
		const char *name = copy(arena, row, "name");

		if (name)
			vec_push(arena, &report->operations,
				 (struct report_operation){ name, (enum operation_change)found });
	}
	json_array_foreach(json_object_get(all, "repositories"), i, row) {
		const char *change = json_string_value(json_object_get(row, "change"));
		int found = find_name(repository_change_names, REPOSITORY_CHANGE_COUNT, change);
		const char *path = copy(arena, row, "path");

		if (path)
			vec_push(arena, &report->other.nested,
				 (struct report_repository){ path, (enum repository_change)found });
	}
	report->index_changed = json_is_true(json_object_get(all, "index_changed"));
	report->other.created = json_is_true(json_object_get(all, "repository_created"));
	report->other.stashes = parse_strings(arena, json_object_get(all, "stashes_dropped"));
	report->settings = parse_strings(arena, json_object_get(all, "settings"));
}

static void parse_lists(struct arena *arena, const json_t *all, struct report *report)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(all, "quarantined"), i, row)
		vec_push(arena, &report->moved,
			 (struct report_moved){ copy(arena, row, "path"), copy(arena, row, "id") });
	report->left_out_paths = parse_strings(arena, json_object_get(all, "not_saved_paths"));
	json_array_foreach(json_object_get(all, "references"), i, row) {
		const char *change = json_string_value(json_object_get(row, "change"));

		vec_push(arena, &report->refs,
			 (struct report_ref){
				 .name = copy(arena, row, "name"),
				 .created = str_equal(change, "new"),
				 .deleted = str_equal(change, "deleted"),
				 .before = copy(arena, row, "before"),
				 .after = copy(arena, row, "after"),
				 .counted = json_is_integer(json_object_get(row, "lost_commits")),
				 .gained = number(row, "new_commits"),
				 .lost = number(row, "lost_commits") });
	}
}

bool report_parse(struct arena *arena, const char *text, struct report *ret_report)
{
	JSON_OWNED *all = json_read_object(text, 0);
	const json_t *network = json_object_get(all, "network");
	const json_t *refused = json_object_get(network, "refused");
	struct report report = {
		.started_ms = json_integer_value(json_object_get(all, "started_ms")),
		.ended_ms = json_integer_value(json_object_get(all, "ended_ms")),
		.status = (int)json_integer_value(json_object_get(all, "status")),
		.saved = json_is_true(json_object_get(all, "saved")),
		.killed = json_is_true(json_object_get(all, "killed")),
		.commits = number(all, "commits"),
		.repository_lost = json_is_true(json_object_get(all, "repository_lost")),
		.tier = copy(arena, network, "tier"),
		.network = copy(arena, network, "line"),
		.refused = json_is_object(refused) ? json_write(arena, refused, JSON_COMPACT)
						   : NULL,
		.resume = copy(arena, all, "resume"),
	};

	report.left_out = number(all, "not_saved");
	if (json_integer_value(json_object_get(all, "version")) != VERSION)
		return false;
	parse_files(arena, json_object_get(all, "files"), &report);
	parse_executed(arena, json_object_get(all, "executed"), &report);
	parse_lists(arena, all, &report);
	parse_repositories(arena, all, &report);
	parse_discarded(arena, json_object_get(all, "discarded"), &report.discarded);
	*ret_report = report;
	return true;
}
