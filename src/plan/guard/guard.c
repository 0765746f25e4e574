// SPDX-License-Identifier: MIT
// The protected places of the plan.
#include "plan/guard/guard.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/guard/facts.h"
#include "plan/guard/hooks.h"
#include "plan/guard/places.h"
#include "plan/guard/record.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "plan/project.h"

#include <string.h>

// Directories in the box: copies of git configurations, and links to them, which are mounted over
// the files of the repository.
#define BOX_COPIES BOX_RUN "/git-config"
#define BOX_LINKS  BOX_RUN "/git-links"

enum { LISTED_PLACES = 5 };

const char *const guard_mount_names[GUARD_MOUNT_COUNT] = {
	[GUARD_PIN] = "pinned",
	[GUARD_READ_ONLY] = "read-only",
	[GUARD_COPY] = "copy",
};

// Gives the box a copy of a git configuration or of a directory of generated hooks. A link cannot
// be mounted over a directory, so the copy itself is.
static void add_copy(struct plan *plan, struct arena *arena, const struct guard_place *place)
{
	bool hooks = place->row->directory;
	const char *config = place->path;
	const char *name =
		arena_printf(arena, "%s%zu", hooks ? HOOKS_COPY : "", plan->guard.copies.count);
	const char *link = path_join(arena, hooks ? BOX_COPIES : BOX_LINKS, name);

	if (hooks) {
		vec_push(arena, &plan->guard.copies,
			 (struct plan_copy){
				 .config = config, .name = name, .link = link, .hooks = true });
		return;
	}
	vec_push(arena, &plan->guard.copies,
		 (struct plan_copy){ .config = config, .name = name, .link = link });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_LINK,
					    .source = path_join(arena, BOX_COPIES, name),
					    .path = link,
					    .for_launch = true });
}

// Returns the texts without repetitions: a directory of hooks can also be a place of the table.
static strings list_once(struct arena *arena, const strings *texts)
{
	strings result = { 0 };

	vec_each(text, texts) {
		bool known = false;

		vec_each(other, &result)
			known |= str_equal(*other, *text);
		if (!known)
			vec_push(arena, &result, *text);
	}
	return result;
}

static bool add_unprotected(struct plan *plan, struct arena *arena, const struct facts *facts,
			    struct error *error)
{
	vec_each(request, &plan->config->unprotect) {
		const char *path = unprotect_path(arena, facts, request->path);

		if (!unprotect_check(facts, request, error))
			return false;
		vec_push(arena, &plan->guard.unprotected, path);
		plan_warn_danger(plan, arena,
				 "'%s'%s is not protected: what the box writes there, your "
				 "programs outside may execute (%s)",
				 quote_word(arena, request->path, 80),
				 unprotect_scope(path, plan->project), request->origin.name);
	}
	return true;
}

static void add_places(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(place, &facts->guard.places) {
		if (unprotect_covers(&plan->guard.unprotected, plan->project, place->path) &&
		    place->mount != GUARD_PIN)
			continue;
		vec_push(arena, &plan->guard.places, *place);
		if (place->mount == GUARD_COPY)
			add_copy(plan, arena, place);
		if (place->other_names)
			plan_warn(plan, arena,
				  "'%s' has another name (hard link): if that is in the project, "
				  "the box can change the file",
				  quote_word(arena, path_tilde(arena, place->path, plan->home),
					     120));
	}
	if (plan->guard.copies.count)
		plan_add_mount(plan, arena,
			       (struct plan_mount){
				       .kind = MOUNT_WRITABLE,
				       .source = path_join(arena, plan->guard.directory, "copies"),
				       .path = BOX_COPIES,
				       .for_launch = true });
}

// Returns the first places of a list, quoted.
static const char *show_places(struct arena *arena, const strings *list)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < list->count && i < LISTED_PLACES; i++)
		text_printf(&out, "%s'%s'", i ? ", " : "",
			    quote_display(arena, list->items[i], 80));
	if (list->count > LISTED_PLACES)
		text_printf(&out, " and %zu more", list->count - LISTED_PLACES);
	return text_get(&out);
}

// Warns about places that are writable although they were protected, or without a known reason.
static void warn_tracked(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct guard_facts *guard = &facts->guard;
	strings released = { 0 };

	vec_each(path, &guard->released) {
		if (!unprotect_covers(&plan->guard.unprotected, plan->project,
				      path_join(arena, plan->project, *path)))
			vec_push(arena, &released, *path);
	}
	if (released.count)
		plan_warn_danger(
			plan, arena,
			"%s %s protected in an earlier session and %s writable now, because "
			"git tracks %s (`git rm --cached` outside protects %s again)",
			show_places(arena, &released), released.count == 1 ? "was" : "were",
			released.count == 1 ? "is" : "are", released.count == 1 ? "it" : "them",
			released.count == 1 ? "it" : "them");
	if (!guard->index_unreadable)
		return;
	if (guard->tracked_from_record)
		plan_warn_danger(
			plan, arena,
			"git's index cannot be read (it is split or damaged): of the places "
			"that programs outside execute, those are writable that git tracked at "
			"the last start");
	else if (plan->guard.tracked.count)
		plan_warn_danger(
			plan, arena,
			"git's index cannot be read (it is split or damaged), so all places "
			"that exist count as tracked, and the box can write them: %s",
			show_places(arena, &plan->guard.tracked));
}

bool plan_build_guard(struct plan *plan, struct arena *arena, const struct facts *facts,
		      struct error *error)
{
	const struct git_facts *git = plan_git(facts);

	// The box cannot change anything in a read-only project.
	if (plan->config->project == PROJECT_READ_ONLY)
		return true;
	plan->guard.active = true;
	plan->guard.git_directories = facts->guard.git_directories;
	plan->guard.tracked = list_once(arena, &facts->guard.tracked);
	plan->guard.targets = facts->guard.targets;
	plan->guard.index = facts->guard.index;
	plan->guard.worktree = git ? git->top : NULL;
	plan->guard.git_directory = git ? git->directory : NULL;
	plan->guard.directory = arena_printf(arena, "%s/git-config-%d-%llx", plan->state.instance,
					     facts->process, (unsigned long long)facts->started_ns);
	if (!add_unprotected(plan, arena, facts, error))
		return false;
	add_places(plan, arena, facts);
	warn_tracked(plan, arena, facts);
	// Without the warning, the next start still has to say it.
	if (plan->config->action != ACTION_PROVE &&
	    !(plan->config->audit == AUDIT_QUIET && facts->guard.released.count)) {
		plan->state.guarded_name = guard_record_name(arena, facts);
		plan->state.new_guarded = guard_record_render(arena, plan);
	}
	if (facts->guard.too_many)
		plan_warn_danger(plan, arena,
				 "the repository has more than 1000 submodules and worktrees: not "
				 "all of them are protected before the start");
	if (facts->guard.too_many_targets)
		plan_warn_danger(plan, arena,
				 "settings of git name more than 128 files of the project: not all "
				 "of them are protected");
	return true;
}
