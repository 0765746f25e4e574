// SPDX-License-Identifier: MIT
// The mounts in the short form of the audit: which are named, and how many are only counted.
#include "render/audit/mounts.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "render/audit/section.h"
#include "render/audit/parts.h"

#include <stdbool.h>
#include <string.h>

enum {
	ROOM_BEFORE = 20, // columns of a label and a mark
	LOW_ROWS = 24,    // a higher screen has a line for the legend
};

// Returns a mount by name, with what it gives away.
static const char *named_mount(struct screen *screen, const struct plan_mount *mount)
{
	const char *name = audit_mount(screen, mount);

	if (mount->secret)
		return arena_printf(screen->arena, "%s SECRET: %s", name, mount->secret);
	if (mount->later)
		return arena_printf(screen->arena, "%s (no SECRET yet: %s may appear)", name,
				    mount->later);
	return name;
}

static void add_mount(struct screen *screen, struct audit_section *section,
		      const struct plan_mount *mount, const char *text)
{
	audit_add_marked(screen->arena, section, mount->origin.kind,
			 mount->secret ? STYLE_DANGER : STYLE_PLAIN, text);
}

static bool is_requested(const struct plan_mount *mount)
{
	return mount->origin.kind == ORIGIN_REQUESTED || mount->secret;
}

// The order in which writable mounts are named: what the user knows first.
enum writable { WRITABLE_PROJECT, WRITABLE_REQUESTED, WRITABLE_PATH, WRITABLE_OWN, WRITABLE_COUNT };

static enum writable writable_kind(const struct plan *plan, const struct plan_mount *mount)
{
	if (str_equal(mount->path, plan->project))
		return WRITABLE_PROJECT;
	if (is_requested(mount))
		return WRITABLE_REQUESTED;
	return str_equal(mount->source, mount->path) ? WRITABLE_PATH : WRITABLE_OWN;
}

void audit_name_writable(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	for (int kind = 0; kind < WRITABLE_COUNT; kind++)
		vec_each(mount, &plan->mounts) {
			const char *why = plan_mount_reason(mount);

			if (mount->kind != MOUNT_WRITABLE || !why ||
			    (int)writable_kind(plan, mount) != kind)
				continue;
			if (is_requested(mount))
				why = named_mount(screen, mount);
			else if (kind != WRITABLE_OWN)
				why = arena_printf(screen->arena, "%s (%s)",
						   audit_path(screen, mount->path), why);
			add_mount(screen, section, mount, why);
		}
	if (!plan->state.home)
		audit_add_marked(screen->arena, section, ORIGIN_GENERATED, STYLE_PLAIN,
				 "an empty home in memory");
}

// Returns whether a mount makes the project or a part of it read-only.
static bool is_of_project(const struct plan *plan, const struct plan_mount *mount)
{
	return mount->kind == MOUNT_READ_ONLY && mount->origin.kind == ORIGIN_GENERATED &&
	       plan_mount_reason(mount) && !mount->secret && mount->source &&
	       path_within(mount->source, plan->project);
}

// Returns whether a mount has files of the user that were not requested by name, which differ from
// box to box.
static bool is_own(const struct plan_mount *mount)
{
	return mount->origin.kind == ORIGIN_ALLOWED && !mount->secret && !mount->toolchain &&
	       mount->kind != MOUNT_WRITABLE && mount->kind != MOUNT_LINK &&
	       plan_mount_reason(mount);
}

static bool is_claude_file(const struct plan_mount *mount)
{
	return path_within(mount->path, BOX_USER_CLAUDE);
}

// Returns the user's Claude files: the names in ~/.claude, each once. NULL: there are none.
static const char *claude_files(struct screen *screen, const struct plan *plan)
{
	struct text out = { .arena = screen->arena };
	strings names = { 0 };

	vec_each(mount, &plan->mounts) {
		const char *name = is_own(mount) && is_claude_file(mount)
					   ? str_after(mount->path, BOX_USER_CLAUDE "/")
					   : NULL;
		bool known = false;

		if (!name)
			continue;
		name = arena_strndup(screen->arena, name, strcspn(name, "/"));
		vec_each(other, &names)
			known |= str_equal(*other, name);
		if (known)
			continue;
		vec_push(screen->arena, &names, name);
		text_printf(&out, "%s%s", out.length ? ", " : "", audit_path(screen, name));
	}
	return out.length ? arena_printf(screen->arena, PLAN_WHY_OWN_FILES " (%s)", text_get(&out))
			  : NULL;
}

// Returns a file of the user by its place on the host.
static const char *own_file(struct screen *screen, const struct plan_mount *mount)
{
	if (mount->copy_of)
		return arena_printf(screen->arena, "copy of %s",
				    audit_path(screen, mount->copy_of));
	return arena_printf(screen->arena, "%s (%s)", audit_mount(screen, mount),
			    plan_mount_reason(mount));
}

static void add_own(struct screen *screen, struct audit_section *section, const char *text)
{
	if (text)
		audit_add_marked(screen->arena, section, ORIGIN_ALLOWED, STYLE_PLAIN, text);
}

void audit_name_mounts(struct screen *screen, const struct plan *plan,
		       struct audit_section *section)
{
	vec_each(mount, &plan->mounts) {
		if (plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
		    is_requested(mount))
			add_mount(screen, section, mount, named_mount(screen, mount));
	}
	add_own(screen, section, claude_files(screen, plan));
	vec_each(mount, &plan->mounts) {
		// The settings of the user's git configuration are in a row of their own.
		if (is_own(mount) && !is_claude_file(mount) &&
		    (mount->kind != MOUNT_DATA || mount->copy_of))
			add_own(screen, section, own_file(screen, mount));
	}
	vec_each(mount, &plan->mounts) {
		bool part = !str_equal(mount->path, plan->project);

		if (is_of_project(plan, mount))
			add_mount(screen, section, mount,
				  arena_printf(screen->arena,
					       part ? "%s is read-only: %s" : "%s (%s)",
					       audit_path(screen, mount->path),
					       plan_mount_reason(mount)));
	}
}

// Returns what the marks mean. The first is the least surprising one.
static const char *legend(struct screen *screen, const char *numbers)
{
	static const char least[] = "[>] from the host, [+] requested";
	const char *all =
		arena_printf(screen->arena, "%s ([~] made by claudebox, %s)", numbers, least);
	size_t room = screen_room(screen, ROOM_BEFORE);

	return !room || screen_width(screen, all) <= room || screen->reader.rows > LOW_ROWS
		       ? all
		       : arena_printf(screen->arena, "%s (%s)", numbers, least);
}

void audit_count_rest(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	size_t variables = 0;
	size_t mounts = 0;

	vec_each(variable, &plan->variables)
		variables += variable->origin.kind == ORIGIN_GENERATED;
	vec_each(mount, &plan->mounts)
		mounts += plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
			  !mount->toolchain && !is_requested(mount) && !is_own(mount) &&
			  !is_of_project(plan, mount);
	audit_add_marked(screen->arena, section, ORIGIN_GENERATED, STYLE_DIM,
			 legend(screen, arena_printf(screen->arena, "%zu variables, %zu mounts",
						     variables, mounts)));
}
