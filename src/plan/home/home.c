// SPDX-License-Identifier: MIT
// Plans the home directory of the box.
#include "plan/home/home.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/layout.h"

#include <string.h>

enum { LISTED_GRANTS = 3 };

const char *plan_home_path(struct arena *arena, const struct config *config,
			   const struct facts *facts)
{
	switch (config->home) {
	case HOME_PROJECT:
		return path_join(arena, plan_instance_path(arena, facts), STATE_HOME);
	case HOME_SHARED:
		return path_join(arena, facts->state.root, STATE_HOME);
	case HOME_NONE:
	case HOME_MODE_COUNT:
		break;
	}
	return NULL;
}

void plan_build_home(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	bool shared = plan->config->home == HOME_SHARED;

	plan->state.home = plan_home_path(arena, plan->config, facts);
	if (!plan->state.home) {
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_EMPTY,
						    .path = facts->home,
						    .mode = 0700,
						    .why = "an empty home, discarded at the end" });
		return;
	}
	plan_add_mount(
		plan, arena,
		(struct plan_mount){ .kind = MOUNT_WRITABLE,
				     .source = plan->state.home,
				     .path = facts->home,
				     .kept_home = true,
				     .why = shared ? "a home that boxes of all projects share"
						   : "the home of this project's boxes" });
}

void plan_add_home_link(struct plan *plan, struct arena *arena, const char *path,
			const char *target, const char *why)
{
	const char *name = path + strlen(plan->home) + 1;

	if (!plan->state.home) {
		plan_add_mount(
			plan, arena,
			(struct plan_mount){
				.kind = MOUNT_LINK, .source = target, .path = path, .why = why });
		return;
	}
	vec_each(link, &plan->state.home_links) {
		if (str_equal(link->name, name))
			return;
	}
	vec_push(arena, &plan->state.home_links,
		 (struct plan_home_link){ .name = name, .target = target });
	vec_push(arena, &plan->mounts,
		 (struct plan_mount){ .kind = MOUNT_LINK,
				      .source = target,
				      .path = path,
				      .created = true,
				      .why = why });
}

void plan_add_home_directory(struct plan *plan, struct arena *arena, const char *path,
			     const char *why)
{
	plan_add_mount(plan, arena,
		       (struct plan_mount){
			       .kind = MOUNT_DIRECTORY, .path = path, .mode = 0700, .why = why });
}

// Adds the target of an earlier launch to the link with this name. A link that is no longer planned
// is added without a target, so that it is removed.
static void add_earlier(struct plan_state *state, struct arena *arena, const char *name,
			const char *target)
{
	vec_each(link, &state->home_links) {
		if (str_equal(link->name, name)) {
			link->earlier = target;
			return;
		}
	}
	vec_push(arena, &state->home_links,
		 (struct plan_home_link){ .name = name, .earlier = target });
}

void plan_finish_home(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const char *before = facts->state.home_links ? facts->state.home_links : "";
	struct text record = { .arena = arena };
	const char *rest = before;
	const char *line;

	if (!state->home)
		return;
	vec_each(link, &state->home_links) {
		// A line of the record is a name and a target.
		if (!strpbrk(link->name, "\t\n") && !strpbrk(link->target, "\t\n"))
			text_printf(&record, "%s\t%s\n", link->name, link->target);
	}
	while ((line = str_next_line(arena, &rest))) {
		const char *tab = strchr(line, '\t');

		if (tab)
			add_earlier(state, arena, arena_strndup(arena, line, (size_t)(tab - line)),
				    tab + 1);
	}
	if (!str_equal(text_get(&record), before))
		state->new_home_links = text_get(&record);
}

// Returns the first new grants as a list.
static const char *list_grants(const struct plan *plan, struct arena *arena)
{
	struct text names = { .arena = arena };
	size_t count = 0;

	vec_each(grant, &plan->new_grants) {
		if (count++ < LISTED_GRANTS)
			text_printf(&names, "%s%s", count > 1 ? ", " : "", *grant);
	}
	if (count > LISTED_GRANTS)
		text_printf(&names, " and %zu more", count - LISTED_GRANTS);
	return text_get(&names);
}

void plan_warn_home(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	unsigned long long limit = plan->config->limits[LIMIT_HOME].value;
	// To the next lower MiB.
	unsigned long long size = facts->state.home_size >> 20 << 20;
	// No project alone has the shared home.
	const char *clear = plan->config->home == HOME_SHARED ? "claudebox --gc=home"
							      : "claudebox --gc=home --instance .";

	if (!plan->state.home)
		return;
	if (plan->config->home == HOME_SHARED)
		plan_warn_danger(plan, arena,
				 "the home is shared (%s): a box of any project that uses it can "
				 "read its files and plant programs that run in this box",
				 plan->config->home_origin.name);
	if (limit && facts->state.home_size > limit)
		plan_warn(plan, arena,
			  "the home of the box has %s, more than its limit of %s: remove files in "
			  "it, or all of it with `%s`",
			  limit_render(arena, LIMIT_HOME, size),
			  limit_render(arena, LIMIT_HOME, limit), clear);
	if (facts->state.home_exists && plan->new_grants.count)
		plan_warn(
			plan, arena,
			"earlier sessions wrote the home of this box, and programs that they left "
			"there can use what is new: %s. %s",
			list_grants(plan, arena),
			plan->must_ask
				? "Answer e for an empty home, or use \"home\": \"none\""
				: arena_printf(arena,
					       "For an empty home use \"home\": \"none\", or `%s`, "
					       "which asks",
					       clear));
}
