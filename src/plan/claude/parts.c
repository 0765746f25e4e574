// SPDX-License-Identifier: MIT
// Mounts directories with secrets in them entry by entry: the user's Claude files and the company's
// policy.
//
// Theory of operation: such a directory is a new one in the read-only root of the box. Only the
// entries that the probe listed exist in it, so that a file which a host program adds or replaces
// later does not appear there.
#include "plan/claude/parts.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/files.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

enum { LISTED_PARTS = 20 };

static struct plan_mount part_mount(const struct claude_part *part)
{
	static const enum mount_kind kinds[] = { [CLAUDE_PART_DIRECTORY] = MOUNT_DIRECTORY,
						 [CLAUDE_PART_HOST] = MOUNT_READ_ONLY,
						 [CLAUDE_PART_LINK] = MOUNT_LINK,
						 [CLAUDE_PART_CLEANED] = MOUNT_DATA };

	return (struct plan_mount){ .kind = kinds[part->kind],
				    .source = part->source,
				    .id = part->id,
				    .mode = part->kind == CLAUDE_PART_DIRECTORY ? 0755
					    : part->kind == CLAUDE_PART_CLEANED ? 0444
										: 0 };
}

// Mounts the parts of a file or directory. The first of them is shown in the audit, with the host
// path of the whole.
static bool add_parts(struct plan *plan, struct arena *arena, const claude_parts *parts,
		      const struct followed *file, const char *base, const char *why)
{
	const char *name = path_name(file->path);
	bool added = false;

	vec_each(part, parts) {
		struct plan_mount mount;

		if (!path_within(part->path, name) || part->kind == CLAUDE_PART_LEFT_OUT)
			continue;
		mount = part_mount(part);
		mount.path = path_join(arena, base, part->path);
		if (!added) {
			mount.why = arena_printf(arena, "%s, without secrets", why);
			if (mount.kind == MOUNT_DIRECTORY)
				mount.source = file->real;
		}
		plan_add_mount(plan, arena, mount);
		added = true;
	}
	return added;
}

bool plan_add_claude_file(struct plan *plan, struct arena *arena, const claude_parts *parts,
			  const struct followed *file, const char *base, const char *why)
{
	const char *name = path_name(file->path);

	if (claude_part_find(parts, name))
		return add_parts(plan, arena, parts, file, base, why);
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
					    .source = file->real,
					    .path = path_join(arena, base, name),
					    .id = file->id,
					    .why = why });
	return true;
}

void plan_build_policy(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *lines = NULL;

	for (size_t i = 0; i < system_table_count; i++) {
		const struct followed *file = facts_file(facts, system_table[i].path);

		if (!file || !path_within(file->path, BOX_POLICY) || file->kind == FILE_OTHER)
			continue;
		if (plan_near_secret(facts, file->real))
			plan_warn_outside(plan, arena,
					  "'%s' is not mounted: it leads to a secret place",
					  quote_word(arena, file->path, 120));
		else
			plan_add_claude_file(plan, arena, &facts->policy_parts, file, BOX_POLICY,
					     system_table[i].why);
	}
	plan_warn_claude_parts(plan, arena, &facts->policy_parts, "company policy");
	if (facts->policy_instructions)
		claude_without_secret_lines(arena, facts->policy_instructions, &lines);
	if (lines)
		plan_warn_outside(
			plan, arena,
			"company policy: line %s of CLAUDE.md is left out (it looks like a "
			"secret)",
			lines);
}

// Warns about all parts that are left out for the reason of the first of them.
static void warn_left_out(struct plan *plan, struct arena *arena, const claude_parts *parts,
			  const struct claude_part *first, const char *what)
{
	struct text names = { .arena = arena };
	size_t count = 0;

	vec_each(part, parts) {
		if (part->kind != CLAUDE_PART_LEFT_OUT || !str_equal(part->why, first->why))
			continue;
		if (part < first)
			return; // in the warning of an earlier part
		if (count++ < LISTED_PARTS)
			text_printf(&names, "%s'%s'", count > 1 ? ", " : "",
				    quote_word(arena, part->path, 160));
	}
	if (count > LISTED_PARTS)
		text_printf(&names, " and %zu more", count - LISTED_PARTS);
	plan_warn_outside(plan, arena, "%s: %s %s left out (%s)", what, text_get(&names),
			  count > 1 ? "are" : "is", first->why);
}

void plan_warn_claude_parts(struct plan *plan, struct arena *arena, const claude_parts *parts,
			    const char *what)
{
	vec_each(part, parts) {
		if (part->kind == CLAUDE_PART_LEFT_OUT)
			warn_left_out(plan, arena, parts, part, what);
		if (part->kind == CLAUDE_PART_CLEANED)
			plan_warn_outside(plan, arena,
					  "%s: '%s' comes without %s (removed as secrets)", what,
					  quote_word(arena, part->path, 160), part->why);
	}
}
