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

// Returns the purpose of a mount that was not requested and has files of the user, which differ
// from box to box; NULL: it is none. Claude files with secrets among them are mounted one by one,
// and some of them are generated.
static const char *personal_reason(const struct plan *plan, const struct plan_mount *mount)
{
	const char *why = plan_mount_reason(mount);

	if (!why || is_requested(mount))
		return NULL;
	if (path_within(mount->path, BOX_USER_CLAUDE))
		return PLAN_WHY_OWN_FILES;
	return !str_equal(why, PLAN_WHY_CLAUDE) && mount->kind == MOUNT_READ_ONLY &&
			       !mount->toolchain && path_within(mount->source, plan->home) &&
			       !path_within(mount->source, plan->state.root)
		       ? why
		       : NULL;
}

// Returns whether an earlier mount has the same purpose.
static bool has_earlier(const struct plan *plan, const struct plan_mount *mount)
{
	const char *why = personal_reason(plan, mount);

	for (const struct plan_mount *other = plan->mounts.items; other < mount; other++)
		if (str_equal(personal_reason(plan, other), why))
			return true;
	return false;
}

void audit_name_mounts(struct screen *screen, const struct plan *plan,
		       struct audit_section *section)
{
	vec_each(mount, &plan->mounts) {
		if (plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
		    is_requested(mount))
			add_mount(screen, section, mount, named_mount(screen, mount));
	}
	vec_each(mount, &plan->mounts) {
		const char *why = personal_reason(plan, mount);

		if (why && !has_earlier(plan, mount))
			audit_add_marked(screen->arena, section, ORIGIN_GENERATED, STYLE_PLAIN,
					 why);
	}
}

void audit_count_rest(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	size_t variables = 0;
	size_t mounts = 0;

	vec_each(variable, &plan->variables)
		variables += variable->origin.kind == ORIGIN_GENERATED;
	vec_each(mount, &plan->mounts)
		mounts += plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
			  !mount->toolchain && !is_requested(mount) &&
			  !personal_reason(plan, mount);
	audit_add_marked(
		screen->arena, section, ORIGIN_GENERATED, STYLE_DIM,
		arena_printf(screen->arena,
			     "%zu variables, %zu mounts ([>] from the host, [+] requested)",
			     variables, mounts));
}
