// SPDX-License-Identifier: MIT
// The guard's events while a box runs, and what the user is told about them.
//
// Theory of operation: a place that the box creates again and again is visible for a part of the
// time, however fast the guard moves it. After the fifth time the supervisor stops all processes of
// the box, the guard searches everything once, and the user decides whether the box goes on.
// Without a terminal, with --yes and with claude -p, the box ends with a fixed exit status. So it
// does if the guard itself ends: nothing would protect the project then.
#include "box/guarding.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/box.h"
#include "box/tracked_changes.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "guard/git/copies.h"
#include "guard/guard.h"
#include "guard/quarantine/quarantine.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "render/guard_notice.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/read.h"
#include "terminal/notice.h"
#include "terminal/terminal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXHAUSTED                                                                              \
	"the kernel's limit of inotify watches is reached: new files in some directories are " \
	"examined only at the end"

enum {
	SHOWN_PATHS = 8,
	COUNTED_PATHS = 2000, // distinct ones
	MAX_TRACKED = 64,
	TRACKED_SIZE = 1024 * 1024,
	DIGEST_DIGITS = 64,
	SWEEP_TIMEOUT_MS = 60000,
};

// Returns a digest of the content of a file, NULL: it cannot be read.
static const char *digest_file(struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
	const char *text = file_read_descriptor(arena, fd, TRACKED_SIZE);

	return text ? digest_hex(arena, text, DIGEST_DIGITS) : NULL;
}

void guarding_start(struct guarding *guarding, const struct plan *plan)
{
	struct arena *arena = guarding->arena;

	guarding->started_ms = clock_realtime_ms();
	for (size_t i = 0; i < plan->guard.tracked.count && i < MAX_TRACKED; i++) {
		const char *path = path_join(arena, plan->project, plan->guard.tracked.items[i]);

		vec_push(arena, &guarding->before,
			 (struct tracked_before){ .path = path,
						  .digest = digest_file(arena, path) });
	}
}

// Returns whether a place that git tracks is another one than at the start. A checkout of another
// branch and back changes nothing.
static bool is_changed(const struct guarding *guarding, const char *path)
{
	const char *now = digest_file(guarding->arena, path);

	vec_each(before, &guarding->before) {
		if (str_equal(before->path, path) && before->digest)
			return !str_equal(before->digest, now);
	}
	return access(path, F_OK) == 0;
}

// Adds a path once. Returns whether it was added.
static bool add_moved(struct guarding *guarding, const char *path)
{
	vec_each(known, &guarding->moved) {
		if (str_equal(*known, path))
			return false;
	}
	if (guarding->moved.count == COUNTED_PATHS)
		return false;
	vec_push(guarding->arena, &guarding->moved, arena_strdup(guarding->arena, path));
	return true;
}

// Adds a tracked place that was changed, once; those that the host executes come first.
static void add_changed(struct guarding *guarding, const struct guard_event *event)
{
	bool executes = str_equal(event->id, guard_host_names[HOST_EXECUTES]);
	strings *list = executes ? &guarding->executed : &guarding->trusted;

	vec_each(known, list) {
		if (str_equal(*known, event->text))
			return;
	}
	if (list->count < COUNTED_PATHS)
		vec_push(guarding->arena, list, arena_strdup(guarding->arena, event->text));
}

static void collect(void *context, const struct guard_event *event)
{
	struct guarding *guarding = context;

	if (event->kind == GUARD_MOVED) {
		add_moved(guarding, event->text);
	} else if (event->kind == GUARD_CHANGED) {
		add_changed(guarding, event);
	} else if (event->kind == GUARD_FAILED && !guarding->problem) {
		guarding->problem = arena_strdup(guarding->arena, event->text);
	} else if (event->kind == GUARD_LOOP) {
		guarding->looping = arena_strdup(guarding->arena, event->text);
	} else if (event->kind == GUARD_EXHAUSTED) {
		guarding->exhausted = true;
	}
}

// Tells the user at once: a file of the user's own at such a place looks the same.
static void tell_moved(const struct guarding *guarding, const struct box *box,
		       const struct plan *plan, const struct guard_event *event)
{
	struct arena *arena = guarding->arena;
	const char *below = str_after(event->text, plan->project);
	const char *path = below && *below == '/' ? below + 1 : event->text;
	size_t count = guarding->moved.count;

	if (plan->config->audit == AUDIT_QUIET)
		return;
	if (box->terminal.fd >= 0 && output_reader(STDERR_FILENO).terminal)
		terminal_notice(&box->terminal,
				render_guard_notice(arena, path, count,
						    terminal_notice_columns(&box->terminal)));
	else if (count <= SHOWN_PATHS)
		output_message("guard", "moved %s (put back later: --quarantine=%s)",
			       quote_display(arena, path, 0), event->id);
}

enum guarding_result guarding_handle(struct guarding *guarding, struct box *box,
				     const struct plan *plan)
{
	struct guard_event event;
	bool ended = false;

	while (guard_receive(&box->guard, &event, &ended)) {
		if (event.kind == GUARD_MOVED && add_moved(guarding, event.text))
			tell_moved(guarding, box, plan, &event);
		else
			collect(guarding, &event);
		if (event.kind == GUARD_LOOP || event.kind == GUARD_EXHAUSTED ||
		    event.kind == GUARD_FAILED)
			return GUARDING_STOP;
	}
	if (!ended)
		return GUARDING_GO_ON;
	guarding->problem = "the guard of the project has ended";
	return GUARDING_END;
}

// Returns whether the user can be asked while the box waits.
static bool may_ask(const struct box *box, const struct plan *plan)
{
	return !plan->config->yes && !claude_words_print(&plan->config->arguments) &&
	       box->terminal.fd >= 0 && ask_possible();
}

// Asks whether the box starts although not all directories of the project are watched.
static bool accept_exhausted(const struct box *box, const struct plan *plan, struct error *error)
{
	bool yes = false;

	if (may_ask(box, plan)) {
		output_message("guard", EXHAUSTED);
		if (!ask_yes_no("Start the box?", &yes, error))
			return false;
	}
	if (yes)
		return true;
	error_set(error, "cannot watch all directories of the project: the kernel's limit of "
			 "inotify watches is reached");
	return error_hint(error, "claudebox --check names the limit; without --yes and -p, "
				 "claudebox asks whether to start");
}

bool guarding_wait_ready(struct guarding *guarding, struct box *box, const struct plan *plan,
			 struct error *error)
{
	if (!guard_wait_ready(&box->guard, collect, guarding, error))
		return false;
	if (guarding->problem)
		return error_set(error, "cannot protect a place of the project: %s",
				 quote_display(guarding->arena, guarding->problem, 0));
	return !guarding->exhausted || accept_exhausted(box, plan, error);
}

// Returns what happened, as a sentence.
static const char *describe(const struct guarding *guarding)
{
	struct arena *arena = guarding->arena;

	if (guarding->looping)
		return arena_printf(arena,
				    "the box creates '%s' again and again (--unprotect lets it)",
				    quote_display(arena, path_name(guarding->looping), 0));
	if (guarding->problem)
		return arena_printf(arena, "a place of the project cannot be protected: %s",
				    quote_display(arena, guarding->problem, 0));
	return EXHAUSTED;
}

static void wait_for_sweep(struct guarding *guarding, struct guard *guard)
{
	struct guard_event event;
	bool ended = false;

	guard_send(guard, GUARD_SWEEP, 0);
	while (!ended && wait_readable(guard->channel, SWEEP_TIMEOUT_MS)) {
		if (!guard_receive(guard, &event, &ended))
			continue;
		if (event.kind == GUARD_SWEPT)
			return;
		collect(guarding, &event);
	}
}

bool guarding_decide(struct guarding *guarding, struct box *box, const struct plan *plan)
{
	const char *sentence = describe(guarding);
	char answer = 'e';

	wait_for_sweep(guarding, &box->guard);
	if (may_ask(box, plan)) {
		terminal_suspend(&box->terminal);
		output_message("guard", "%s; the box is stopped", sentence);
		answer = ask_letter("Continue the box or end it? [c/E] ", "ec", guarding->arena);
	} else {
		output_message("guard", "%s; the box was ended", sentence);
	}
	guarding->looping = NULL;
	guarding->problem = NULL;
	guarding->ended = answer != 'c';
	return answer == 'c';
}

// Returns the places that differ from the start.
static strings keep_changed(const struct guarding *guarding, const strings *paths)
{
	strings changed = { 0 };

	vec_each(path, paths) {
		if (is_changed(guarding, *path))
			vec_push(guarding->arena, &changed, *path);
	}
	return changed;
}

// Adds what the guard of another box of the project has moved meanwhile: which of the two guards
// moves a file is chance, and one of the boxes may be a script.
static void add_moved_by_others(struct guarding *guarding, const struct plan *plan)
{
	CLEANUP_FD int quarantine = quarantine_find(plan->state.instance);
	quarantine_items items = { 0 };

	struct stat status;

	if (quarantine >= 0 && fstat(quarantine, &status) == 0 &&
	    clock_ms(&status.st_mtim) >= guarding->started_ms)
		items = quarantine_list(quarantine, guarding->arena);
	vec_each(item, &items) {
		if (item->moved_ms >= guarding->started_ms)
			add_moved(guarding, item->path);
	}
}

// Tells how many files were moved: with --quiet too, since they can be the user's own edits.
static void tell_count(const struct guarding *guarding)
{
	if (guarding->moved.count)
		output_message("guard", "%s moved to quarantine: claudebox --quarantine",
			       render_file_count(guarding->arena, guarding->moved.count,
						 COUNTED_PATHS));
}

void guarding_finish(struct guarding *guarding, struct box *box, const struct plan *plan)
{
	struct arena *arena = guarding->arena;
	struct copies_told told = { 0 };
	strings executed, trusted;

	guard_finish(&box->guard, plan, collect, guarding);
	add_moved_by_others(guarding, plan);
	copies_apply(plan, arena, &told);
	guarding->settings = told.applied;
	if (plan->config->audit == AUDIT_QUIET) {
		tell_count(guarding);
		return;
	}
	for (size_t i = 0; i < guarding->moved.count && i < SHOWN_PATHS; i++)
		output_message(
			"guard", "moved to quarantine: %s",
			quote_display(arena,
				      path_tilde(arena, guarding->moved.items[i], plan->home), 0));
	if (guarding->moved.count > SHOWN_PATHS)
		output_message("guard", "and %zu more", guarding->moved.count - SHOWN_PATHS);
	if (guarding->moved.count)
		output_message("guard", "claudebox --quarantine lists them and puts them back");
	executed = keep_changed(guarding, &guarding->executed);
	trusted = keep_changed(guarding, &guarding->trusted);
	tracked_changes_tell(plan, arena, &box->guard.start, &executed, &trusted);
	if (guarding->problem)
		output_message("guard", "%s", quote_display(arena, guarding->problem, 0));
	vec_each(line, &told.notes)
		output_message("guard", "%s", *line);
}
