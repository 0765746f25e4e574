// SPDX-License-Identifier: MIT
// The search after a launch that was killed together with its guard.
//
// Theory of operation: the box may have created places after its guard was gone. The next start
// searches for entries that were changed since the killed launch started, before it examines the
// project. A place that was protected in the killed box is left alone: only the user can have
// changed it. All others go to quarantine as in a session, and the user is told.
#include "guard/recover.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "guard/git/copies.h"
#include "guard/guard.h"
#include "plan/facts.h"
#include "plan/guard/facts.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "plan/project.h"

enum { NANOSECONDS = 1000000000 };

struct notes {
	struct arena *arena;
	const char *home;
	strings *lines;
};

static void note(void *context, const struct guard_event *event)
{
	struct notes *notes = context;
	const char *path = path_tilde(notes->arena, event->text, notes->home);

	if (event->kind == GUARD_MOVED)
		vec_push(notes->arena, notes->lines,
			 arena_printf(notes->arena,
				      "moved to quarantine, after a box that was killed: %s",
				      quote_display(notes->arena, path, 0)));
}

static struct plan_guard sweep_of(const struct facts *facts, const struct config *config,
				  const struct copies_left *left, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);
	struct plan_guard guard = { .active = true,
				    .recovering = true,
				    .git_directories = facts->guard.git_directories,
				    .worktree = git ? git->top : NULL,
				    .git_directory = git ? git->directory : NULL };

	vec_each(path, &left->places)
		vec_push(arena, &guard.places,
			 (struct guard_place){ .path = *path, .mount = GUARD_READ_ONLY });
	vec_each(request, &config->unprotect)
		vec_push(arena, &guard.unprotected, unprotect_path(arena, facts, request->path));
	return guard;
}

void guard_recover(const struct facts *facts, const struct config *config,
		   const struct copies_left *left, struct arena *arena, strings *ret_notes)
{
	struct plan plan = { .config = config,
			     .project = facts->project,
			     .home = facts->home,
			     .state.instance = plan_instance_path(arena, facts),
			     .guard = sweep_of(facts, config, left, arena) };
	struct guard guard = GUARD_NONE;
	struct notes notes = { .arena = arena, .home = facts->home, .lines = ret_notes };
	struct error error = { .arena = arena };

	guard.start = (struct timespec){ .tv_sec = (time_t)(left->since_ns / NANOSECONDS),
					 .tv_nsec = (long)(left->since_ns % NANOSECONDS) };
	if (guard_start(&guard, &plan, &error))
		guard_finish(&guard, &plan, note, &notes);
	else
		vec_push(arena, ret_notes, error.message);
}
