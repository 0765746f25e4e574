// SPDX-License-Identifier: MIT
// The sessions of a project: what each of them found, and what it left.
//
// Theory of operation: a session is a directory in the store. At the start it gets a link to the
// index, which is the snapshot, and a lock that claudebox holds until it ends. At the end it gets a
// record with the trees of both snapshots. A session without a record whose lock is free was
// killed: the next command writes its record.
#include "snapshot/session.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "render/instances.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/project_index.h"
#include "snapshot/refs/refs.h"
#include "snapshot/store.h"
#include "snapshot/take/take.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/lock.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEFT_OUT "left-out.json"
#define IGNORED  "ignored" // exists if files that git ignores are saved

enum {
	RECORD_VERSION = 1,
	RECORD_LIMIT = 16 * 1024 * 1024,
	MOST_SESSIONS = 1000,
	TREE_DIGITS = 40,
};

static const char *const kind_names[SESSION_KIND_COUNT] = {
	[SESSION_BOX] = "box",
	[SESSION_UNDO] = "undo",
};

static int open_sessions(const struct store *store)
{
	return file_open(store->directory, "sessions", O_RDONLY | O_DIRECTORY);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Lists the ids, the oldest first.
static strings list_ids(int sessions, struct arena *arena)
{
	strings names = list_directory_up_to(arena, sessions, ".", MOST_SESSIONS);

	if (names.count)
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
	return names;
}

static bool is_tree(const char *text)
{
	return text && strlen(text) == TREE_DIGITS &&
	       strspn(text, "0123456789abcdef") == TREE_DIGITS;
}

static const char *copy_string(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static bool parse(struct arena *arena, const char *id, const char *text,
		  struct session_record *ret_record)
{
	JSON_OWNED *object = text ? json_read_object(text, 0) : NULL;
	struct session_record record = { .id = id };
	const char *kind = json_string_value(json_object_get(object, "kind"));
	json_t *path;
	size_t i;

	if (!object || json_integer_value(json_object_get(object, "version")) != RECORD_VERSION)
		return false;
	record.kind = str_equal(kind, kind_names[SESSION_UNDO]) ? SESSION_UNDO : SESSION_BOX;
	record.started_ms = json_integer_value(json_object_get(object, "started_ms"));
	record.ended_ms = json_integer_value(json_object_get(object, "ended_ms"));
	record.before = copy_string(arena, object, "before");
	record.after = copy_string(arena, object, "after");
	record.of = copy_string(arena, object, "of");
	record.partial = json_is_true(json_object_get(object, "partial"));
	record.ignored = json_is_true(json_object_get(object, "ignored"));
	record.killed = json_is_true(json_object_get(object, "killed"));
	record.refs_before = refs_parse(arena, json_object_get(object, "refs_before"));
	record.refs_after = refs_parse(arena, json_object_get(object, "refs_after"));
	record.operations_before = refs_parse(arena, json_object_get(object, "operations_before"));
	record.operations_after = refs_parse(arena, json_object_get(object, "operations_after"));
	record.index_before = copy_string(arena, object, "index_before");
	record.index_after = copy_string(arena, object, "index_after");
	record.left_out_count =
		(size_t)json_integer_value(json_object_get(object, "left_out_count"));
	json_array_foreach(json_object_get(object, "left_out"), i, path)
		vec_push(arena, &record.left_out, arena_strdup(arena, json_string_value(path)));
	*ret_record = record;
	return is_tree(record.before) && is_tree(record.after);
}

static const char *render(struct arena *arena, const struct session_record *record)
{
	JSON_OWNED *object = json_object();
	json_t *left_out = json_array();

	vec_each(path, &record->left_out)
		json_array_append_new(left_out, render_path_value(arena, *path));
	json_object_set_new(object, "version", json_integer(RECORD_VERSION));
	json_object_set_new(object, "kind", json_string(kind_names[record->kind]));
	json_object_set_new(object, "started_ms", json_integer(record->started_ms));
	json_object_set_new(object, "ended_ms", json_integer(record->ended_ms));
	json_object_set_new(object, "before", json_string(record->before));
	json_object_set_new(object, "after", json_string(record->after));
	if (record->of)
		json_object_set_new(object, "of", json_string(record->of));
	json_object_set_new(object, "partial", json_boolean(record->partial));
	json_object_set_new(object, "ignored", json_boolean(record->ignored));
	json_object_set_new(object, "killed", json_boolean(record->killed));
	json_object_set_new(object, "refs_before", refs_render(&record->refs_before));
	json_object_set_new(object, "refs_after", refs_render(&record->refs_after));
	json_object_set_new(object, "operations_before", refs_render(&record->operations_before));
	json_object_set_new(object, "operations_after", refs_render(&record->operations_after));
	if (record->index_before)
		json_object_set_new(object, "index_before", json_string(record->index_before));
	if (record->index_after)
		json_object_set_new(object, "index_after", json_string(record->index_after));
	json_object_set_new(object, "left_out", left_out);
	json_object_set_new(object, "left_out_count",
			    json_integer((json_int_t)record->left_out_count));
	return json_write(arena, object, JSON_INDENT(1));
}

// Two boxes of a project can run at once: the last session is the one that ended last.
static int compare_ends(const void *a, const void *b)
{
	const struct session_record *first = a, *second = b;

	if (first->ended_ms != second->ended_ms)
		return first->ended_ms < second->ended_ms ? -1 : 1;
	return strcmp(first->id, second->id);
}

session_list session_list_all(const struct store *store, struct arena *arena)
{
	CLEANUP_FD int sessions = open_sessions(store);
	session_list list = { 0 };
	strings ids = { 0 };

	if (sessions >= 0)
		ids = list_ids(sessions, arena);
	vec_each(id, &ids) {
		const char *name = path_join(arena, *id, "record.json");
		struct session_record record;

		if (parse(arena, *id, file_read_at(arena, sessions, name, RECORD_LIMIT), &record))
			vec_push(arena, &list, record);
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(list.items[0]), compare_ends);
	return list;
}

// Writes a reference of the store, so that the tree stays.
static bool keep_tree(const struct store *store, const char *id, const char *name, const char *tree,
		      struct error *error)
{
	CLEANUP_FD int sessions = -1;

	if (mkdirat(store->directory, "refs/sessions", 0700) < 0 && errno != EEXIST)
		return write_fail(error, "create", "refs/sessions");
	sessions = file_open(store->directory, "refs/sessions", O_RDONLY | O_DIRECTORY);
	return sessions >= 0 ? replace_file(sessions, arena_printf(error->arena, "%s-%s", id, name),
					    arena_printf(error->arena, "%s\n", tree), error)
			     : write_fail(error, "open", "refs/sessions");
}

bool session_keep_trees(const struct store *store, const struct session_record *record,
			struct error *error)
{
	return keep_tree(store, record->id, "before", record->before, error) &&
	       keep_tree(store, record->id, "after", record->after, error);
}

bool session_write(const struct store *store, const struct session_record *record,
		   struct error *error)
{
	CLEANUP_FD int sessions = open_sessions(store);
	CLEANUP_FD int directory = -1;

	if (sessions < 0 || (mkdirat(sessions, record->id, 0700) < 0 && errno != EEXIST))
		return write_fail(error, "create", record->id);
	directory = file_open(sessions, record->id, O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		return write_fail(error, "open", record->id);
	return session_keep_trees(store, record, error) &&
	       (!record->ignored || session_write_ignored(directory, error)) &&
	       replace_file(directory, "record.json", render(error->arena, record), error);
}

void session_add_end(const struct store *store, struct arena *arena, const char *git_directory,
		     struct session_record *record)
{
	record->refs_after = refs_list(store, arena, git_directory);
	record->operations_after = operations_list(arena, git_directory);
	record->index_before = project_index_digest_copy(
		arena, arena_printf(arena, "%s/sessions/%s", store->path, record->id));
	record->index_after = git_directory ? project_index_digest(arena, git_directory) : NULL;
}

bool session_write_left_out(int session, const strings *paths, size_t count, struct error *error)
{
	JSON_OWNED *object = json_object();
	json_t *list = json_array();

	vec_each(path, paths)
		json_array_append_new(list, render_path_value(error->arena, *path));
	json_object_set_new(object, "count", json_integer((json_int_t)count));
	json_object_set_new(object, "paths", list);
	return replace_file(session, LEFT_OUT, json_write(error->arena, object, 0), error);
}

static bool has_path(const strings *paths, const char *path)
{
	vec_each(known, paths) {
		if (str_equal(*known, path))
			return true;
	}
	return false;
}

// Adds what the start could not save. The end may have saved it: its changes are not known.
static void read_left_out(int session, struct arena *arena, struct session_record *record)
{
	const char *text = file_read_at(arena, session, LEFT_OUT, RECORD_LIMIT);
	JSON_OWNED *object = text ? json_read_object(text, 0) : NULL;
	strings first = { 0 };
	size_t count = (size_t)json_integer_value(json_object_get(object, "count"));
	size_t i;
	json_t *path;

	json_array_foreach(json_object_get(object, "paths"), i, path)
		vec_push(arena, &first, arena_strdup(arena, json_string_value(path)));
	vec_each(later, &record->left_out) {
		if (!has_path(&first, *later))
			vec_push(arena, &first, *later);
	}
	record->left_out = first;
	// Those without a name are taken to be the same at the start and at the end.
	count = record->left_out_count > count ? record->left_out_count : count;
	record->left_out_count = first.count > count ? first.count : count;
}

static git_refs read_refs(int session, const char *name, struct arena *arena)
{
	const char *text = file_read_at(arena, session, name, RECORD_LIMIT);
	JSON_OWNED *object = text ? json_read_object(text, 0) : NULL;

	return refs_parse(arena, object);
}

void session_read_start(int session, struct arena *arena, struct session_record *record)
{
	record->refs_before = read_refs(session, "refs.json", arena);
	record->operations_before = read_refs(session, "operations.json", arena);
	record->ignored = faccessat(session, IGNORED, F_OK, 0) == 0;
	read_left_out(session, arena, record);
}

bool session_write_ignored(int session, struct error *error)
{
	return replace_file(session, IGNORED, "", error);
}

bool session_saves_ignored(const struct store *store, struct arena *arena)
{
	CLEANUP_FD int sessions = open_sessions(store);
	strings ids = { 0 };

	if (sessions >= 0)
		ids = list_ids(sessions, arena);
	return ids.count && faccessat(sessions, path_join(arena, ids.items[ids.count - 1], IGNORED),
				      F_OK, 0) == 0;
}

const char *session_new_id(struct arena *arena)
{
	return arena_printf(arena, "%013lld-%d", (long long)clock_realtime_ms(), (int)getpid());
}

// Returns whether a session was killed: it has a snapshot, no record, and nothing holds its lock.
// An empty one is removed.
static bool is_killed(int sessions, const char *id, struct arena *arena)
{
	CLEANUP_FD int directory = file_open(sessions, id, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int lock = -1;
	struct error ignored = { .arena = arena };

	if (directory < 0 || faccessat(directory, "record.json", F_OK, 0) == 0)
		return false;
	lock = lock_exclusively(directory, "lock");
	if (lock < 0)
		return false;
	if (faccessat(directory, "before", F_OK, 0) == 0)
		return true;
	if (faccessat(directory, "index", F_OK, 0) < 0) // of an undo that is about to be recorded
		remove_tree(sessions, id, &ignored);
	return false;
}

const char *session_find_killed(const struct store *store, struct arena *arena)
{
	CLEANUP_FD int sessions = open_sessions(store);
	strings ids = { 0 };

	if (sessions >= 0)
		ids = list_ids(sessions, arena);
	vec_each(id, &ids) {
		if (is_killed(sessions, *id, arena))
			return *id;
	}
	return NULL;
}

bool session_recover(const struct store *store, const struct plan_undo *undo, struct error *error)
{
	CLEANUP_FD int sessions = open_sessions(store);
	struct arena *arena = error->arena;
	strings ids = { 0 };

	if (sessions >= 0)
		ids = list_ids(sessions, arena);
	vec_each(id, &ids) {
		const char *index = arena_printf(arena, "%s/sessions/%s/before", store->path, *id);
		struct session_record record = { .id = *id, .killed = true };
		CLEANUP_FD int session = -1;

		if (!is_killed(sessions, *id, arena))
			continue;
		session = file_open(sessions, *id, O_RDONLY | O_DIRECTORY);
		record.started_ms = strtoll(*id, NULL, 10);
		record.ended_ms = clock_realtime_ms();
		record.before = snapshot_write_tree(store, index, error);
		record.after = record.before ? snapshot_write_tree(store, NULL, error) : NULL;
		session_read_start(session, arena, &record);
		session_add_end(store, arena, undo->git_directory, &record);
		if (!record.after || !session_write(store, &record, error))
			return false;
	}
	return true;
}

void session_remove(const struct store *store, const char *id, struct arena *arena)
{
	CLEANUP_FD int sessions = open_sessions(store);
	struct error ignored = { .arena = arena };

	for (int after = 0; after < 2; after++)
		unlinkat(store->directory,
			 arena_printf(arena, "refs/sessions/%s-%s", id, after ? "after" : "before"),
			 0);
	if (sessions >= 0)
		remove_tree(sessions, id, &ignored);
}

size_t session_count(const struct store *store, struct arena *arena)
{
	CLEANUP_FD int sessions = open_sessions(store);

	return sessions < 0 ? 0 : list_ids(sessions, arena).count;
}

const struct session_record *session_last(const session_list *list, bool box)
{
	for (size_t i = list->count; i-- > 0;)
		if (!box || list->items[i].kind == SESSION_BOX)
			return &list->items[i];
	return NULL;
}

bool session_changed_index(const struct session_record *record)
{
	return project_index_differs(record->index_before, record->index_after);
}

bool session_changed_refs(const struct session_record *record)
{
	if (session_changed_index(record))
		return true;
	vec_each(ref, &record->refs_after) {
		if (refs_is_restored(ref->name) &&
		    !str_equal(refs_value(&record->refs_before, ref->name), ref->value))
			return true;
	}
	vec_each(ref, &record->refs_before) {
		if (refs_is_restored(ref->name) && !refs_value(&record->refs_after, ref->name))
			return true;
	}
	return false;
}
