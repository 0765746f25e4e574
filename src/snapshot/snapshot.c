// SPDX-License-Identifier: MIT
// The snapshots of a session: one before the agent starts, one when the box has ended.
//
// Theory of operation: a child of claudebox saves the project while bwrap starts, because hashing a
// changed file takes longer than everything else. The agent starts when it is done. The snapshot is
// the index of the store, of which the session keeps a link: git replaces its index by rename, so
// the link keeps the old one. At the end the project is saved again, and the record of the session
// gets both trees.
#include "snapshot/snapshot.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/plan.h"
#include "snapshot/take/modes.h"
#include "snapshot/refs/operations.h"
#include "snapshot/refs/project_index.h"
#include "snapshot/refs/refs.h"
#include "snapshot/refs/state.h"
#include "snapshot/expire.h"
#include "snapshot/session.h"
#include "snapshot/store.h"
#include "snapshot/take/take.h"
#include "snapshot/unsaved.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FIRST_BUDGET_MS = 10000, // of the first snapshot of a project
	BUDGET_MS = 3000,
	END_BUDGET_MS = 20000,
	WAIT_MS = 30000, // more than git_run() needs to end a git that hangs
	TELL_MS = 700,   // when the user is told what takes so long
	MESSAGE_SIZE = 400,
};

// What the child reports.
struct result {
	bool complete;
	bool failed;
	char message[MESSAGE_SIZE];
};

static bool make_directory(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Creates the directory of the session and takes its lock.
static bool create_session(struct snapshot *snapshot, const struct plan_undo *undo,
			   struct arena *arena)
{
	const char *sessions = path_join(arena, undo->path, "sessions");

	snapshot->id = session_new_id(arena);
	if (!make_directory(path_parent(arena, undo->path)) || !make_directory(undo->path) ||
	    !make_directory(sessions) || !make_directory(path_join(arena, sessions, snapshot->id)))
		return false;
	snapshot->session = file_open(AT_FDCWD, path_join(arena, sessions, snapshot->id),
				      O_RDONLY | O_DIRECTORY);
	snapshot->lock = snapshot->session < 0 ? -1 : lock_exclusively(snapshot->session, "lock");
	return snapshot->lock >= 0;
}

// Records what --undo=commits restores.
static bool record_repository(const struct store *store, int session, const struct plan_undo *undo,
			      struct error *error)
{
	git_refs refs = { 0 }, operations = { 0 };
	JSON_OWNED *object = NULL;
	JSON_OWNED *progress = NULL;

	if (!undo->git_directory)
		return true;
	refs = refs_list(store, error->arena, undo->git_directory);
	operations = operations_list(error->arena, undo->git_directory);
	object = refs_render(&refs);
	progress = refs_render(&operations);
	return replace_file(session, "refs.json", json_write(error->arena, object, 0), error) &&
	       replace_file(session, "operations.json", json_write(error->arena, progress, 0),
			    error) &&
	       project_index_copy(session, undo->git_directory, error);
}

static struct take take_of(const struct plan_undo *undo, int budget_ms)
{
	return (struct take){ .git_directory = undo->git_directory,
			      .prefix = undo->prefix,
			      .ignored = undo->ignored,
			      .budget_ms = budget_ms };
}

// Brings the index up to date, and completes sessions that were killed.
static bool refresh(const struct store *store, const struct plan_undo *undo, struct take *take,
		    struct error *error)
{
	const char *killed = session_find_killed(store, error->arena);

	if (!take->session)
		take->session = killed;
	return snapshot_take(store, take, error) &&
	       (!take->complete || !killed || session_recover(store, undo, error));
}

bool snapshot_refresh(const struct store *store, const struct plan_undo *undo,
		      const strings *wanted, struct text *ret_modes, struct error *error)
{
	struct take take = take_of(undo, END_BUDGET_MS);

	take.wanted = wanted;
	take.ignored |= session_saves_ignored(store, error->arena); // with another profile
	if (!refresh(store, undo, &take, error))
		return false;
	if (ret_modes)
		*ret_modes = take.modes;
	if (take.complete)
		return true;
	error_set(error, "the project is too large to be compared in %d seconds",
		  END_BUDGET_MS / 1000);
	return error_hint(error, "try again: what was read is remembered");
}

// Runs in the child.
static void save(const struct snapshot *snapshot, const struct plan *plan, struct result *result)
{
	struct arena arena = { 0 }; // as long as the process
	struct error error = { .arena = &arena };
	struct store store = STORE_NONE;
	struct take take = take_of(&plan->undo, FIRST_BUDGET_MS);
	bool ok = store_open(&store, plan->undo.git, plan->undo.path, plan->project, true, &error);

	if (ok && faccessat(store.directory, "index", F_OK, 0) == 0)
		take.budget_ms = BUDGET_MS;
	ok = ok && store_set_exclude(&store, plan->undo.exclude, &error) &&
	     refresh(&store, &plan->undo, &take, &error);
	result->complete = ok && take.complete;
	if (result->complete)
		ok = modes_write(snapshot->session, &take.modes, &error) &&
		     (!take.ignored || session_write_ignored(snapshot->session, &error)) &&
		     (!take.left_out_count ||
		      session_write_left_out(snapshot->session, &take.left_out, take.left_out_count,
					     &error)) &&
		     record_repository(&store, snapshot->session, &plan->undo, &error) &&
		     state_write(snapshot->session, plan, &take.repositories, &error) &&
		     (linkat(store.directory, "index", snapshot->session, "before", 0) == 0 ||
		      write_fail(&error, "link", "index"));
	result->failed = !ok;
	if (error.message)
		strncpy(result->message, error.message, sizeof(result->message) - 1);
}

void snapshot_start(struct snapshot *snapshot, const struct plan *plan, struct arena *arena)
{
	pid_t parent = getpid();
	int fds[2];

	if (!plan->undo.active || pipe2(fds, O_CLOEXEC) < 0)
		return;
	snapshot->result = fds[0];
	if (create_session(snapshot, &plan->undo, arena))
		snapshot->pid = fork();
	if (snapshot->id && snapshot->lock >= 0 && snapshot->pid == 0) {
		struct result result = { 0 };

		process_end_with_parent(parent, SIGKILL);
		prctl(PR_SET_NAME, "claudebox-save");
		save(snapshot, plan, &result);
		_exit(write_all(fds[1], &result, sizeof(result)) ? 0 : 1);
	}
	close(fds[1]);
}

// Tells the user that the session cannot be taken back.
static void tell_off(const struct plan *plan, const char *why)
{
	if (plan->config->audit != AUDIT_QUIET)
		output_message("undo", "this session cannot be undone: %s", why);
}

void snapshot_wait(struct snapshot *snapshot, const struct plan *plan, struct arena *arena)
{
	struct result result = { .failed = true };
	bool slow, complete;

	if (!plan->undo.active)
		unsaved_note(plan->undo.path, arena);
	if (!plan->undo.active)
		return;
	slow = snapshot->pid > 0 && !wait_readable(snapshot->result, TELL_MS);
	if (slow && plan->config->audit != AUDIT_QUIET)
		output_message("undo", "saving the project, so that --undo can take back what this "
				       "session changes");
	if (snapshot->pid > 0)
		read_until_end(snapshot->result, (char *)&result, sizeof(result), WAIT_MS,
			       &complete);
	result.message[MESSAGE_SIZE - 1] = '\0';
	if (snapshot->pid > 0)
		process_wait_or_kill(snapshot->pid, 0);
	cleanup_close(&snapshot->result);
	snapshot->result = -1;
	snapshot->pid = 0;
	if (result.failed)
		tell_off(plan, *result.message ? quote_display(arena, result.message, 0)
					       : "the project cannot be saved");
	else if (!result.complete)
		tell_off(plan, "the project is too large to be saved in time; what was saved makes "
			       "the next time faster");
	if (result.failed || !result.complete) {
		snapshot_abort(snapshot, plan, arena);
		unsaved_note(plan->undo.path, arena);
	}
}

void snapshot_abort(struct snapshot *snapshot, const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int sessions = -1;
	struct error ignored = { .arena = arena };

	if (snapshot->pid > 0)
		process_kill(snapshot->pid);
	if (snapshot->id)
		sessions = file_open(AT_FDCWD, path_join(arena, plan->undo.path, "sessions"),
				     O_RDONLY | O_DIRECTORY);
	if (sessions >= 0)
		remove_tree(sessions, snapshot->id, &ignored);
	cleanup_close(&snapshot->result);
	cleanup_close(&snapshot->lock);
	cleanup_close(&snapshot->session);
	*snapshot = SNAPSHOT_NONE;
}

static bool refs_equal(const git_refs *a, const git_refs *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) { // in the same order, as a rule
		const struct git_ref *ref = &a->items[i];
		bool same = str_equal(ref->name, b->items[i].name);

		if (!str_equal(ref->value, same ? b->items[i].value : refs_value(b, ref->name)))
			return false;
	}
	return true;
}

// Returns whether the index is still the one of the start.
static bool same_index(const struct store *store, int session)
{
	struct stat before, now;

	return fstatat(session, "before", &before, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(store->directory, "index", &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       before.st_ino == now.st_ino;
}

// Compares the end with the start. Returns false with an error, or without one if nothing has
// changed.
static bool complete(const struct snapshot *snapshot, const struct store *store,
		     const struct plan *plan, struct session_record *record, struct error *error)
{
	const char *index =
		arena_printf(error->arena, "%s/sessions/%s/before", store->path, snapshot->id);
	bool same;

	session_read_start(snapshot->session, error->arena, record);
	session_add_end(store, error->arena, plan->undo.git_directory, record);
	same = refs_equal(&record->refs_before, &record->refs_after) &&
	       refs_equal(&record->operations_before, &record->operations_after) &&
	       !session_changed_index(record);
	if (same && same_index(store, snapshot->session))
		return false;
	record->before = snapshot_write_tree(store, index, error);
	record->after = record->before ? snapshot_write_tree(store, NULL, error) : NULL;
	return record->after && !(same && str_equal(record->before, record->after));
}

bool snapshot_finish(struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
		     struct session_record *ret_record)
{
	struct error error = { .arena = arena };
	struct store store = STORE_NONE;
	struct take take = take_of(&plan->undo, END_BUDGET_MS);
	struct session_record record = { .id = snapshot->id, .ended_ms = clock_realtime_ms() };
	bool changed = false;

	if (!snapshot->id)
		return false;
	take.closed_since_ms = strtoll(snapshot->id, NULL, 10);
	take.session = snapshot->id;
	if (store_open(&store, plan->undo.git, plan->undo.path, plan->project, false, &error) &&
	    refresh(&store, &plan->undo, &take, &error)) {
		record.left_out = take.left_out;
		record.left_out_count = take.left_out_count;
		if (!take.complete)
			error_set(&error, "the project is too large to be compared in time");
		else
			changed = complete(snapshot, &store, plan, &record, &error);
		if (take.complete)
			record.other =
				state_compare(snapshot->session, plan, &take.repositories, arena);
	}
	record.started_ms = strtoll(snapshot->id, NULL, 10);
	if (changed)
		changed = session_write(&store, &record, &error);
	else
		record.before = record.after = NULL;
	snapshot->failed = error.message != NULL;
	if (error.message) // claudebox --undo tries again
		output_message("undo", "%s", error.message);
	else if (!changed)
		snapshot_abort(snapshot, plan, arena);
	if (changed)
		snapshot_expire(&store, plan->undo.limit, arena);
	store_close(&store);
	cleanup_close(&snapshot->lock);
	cleanup_close(&snapshot->session);
	*ret_record = record;
	return changed || state_is_changed(&record.other);
}
