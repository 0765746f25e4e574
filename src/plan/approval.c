// SPDX-License-Identifier: MIT
// Renders the plan as a list of short lines and compares it with the approved list.
#include "plan/approval.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/options/table.h"
#include "plan/approved_lines.h"
#include "plan/plan.h"

#include <string.h>

// In the file, lines that start with this are warnings. They are no part of the box.
#define WARNING "warning "

// Returns the line of a warning. A list that the text shows in part is recorded whole, as a digest.
static const char *warning_line(struct arena *arena, const struct plan_warning *warning)
{
	return arena_printf(arena, WARNING "%s%s%s", warning->text, warning->whole ? "\t" : "",
			    warning->whole ? warning->whole : "");
}

const char *approval_render(struct arena *arena, const struct plan *plan)
{
	strings lines = approval_lines(arena, plan);
	struct text out = { .arena = arena };

	vec_each(line, &lines)
		text_printf(&out, "%s\n", *line);
	vec_each(warning, &plan->warnings)
		text_printf(&out, "%s\n", warning_line(arena, warning));
	return text_get(&out);
}

// Returns whether a variable, of which this is the name and perhaps APPROVAL_SECRET, is a grant.
static bool is_variable_grant(const struct plan *plan, const char *shown)
{
	vec_each(variable, &plan->variables) {
		const char *rest = str_after(shown, variable->name);

		if (rest && (!*rest || str_equal(rest, APPROVAL_SECRET)))
			return variable->secret || variable->origin.kind == ORIGIN_REQUESTED;
	}
	return false;
}

// The system's directories and claude itself change with every update: they are not grants.
static bool is_mount_grant(const struct plan *plan, struct arena *arena, const char *line)
{
	vec_each(mount, &plan->mounts) {
		bool grant =
			mount->origin.kind == ORIGIN_REQUESTED || mount->secret ||
			(mount->kind == MOUNT_WRITABLE && str_equal(mount->path, plan->project));
		strings own = { 0 };

		if (grant)
			approval_add_mount(&own, arena, mount);
		if (own.count && str_equal(own.items[0], line))
			return true;
	}
	return false;
}

// Returns whether the approved box had a smaller network. Wider tiers come first.
static bool is_wider(const struct plan *plan, const strings *approved, struct arena *arena)
{
	for (int tier = NETWORK_TIER_COUNT - 1; tier > (int)plan->config->network; tier--)
		if (approval_has_line(approved,
				      arena_printf(arena, "network %s", network_tier_names[tier])))
			return true;
	return false;
}

// Lines that give the box nothing that a program of an earlier session could misuse. The mounts of
// "path" have lines of their own. The directory of the login is in every box. An earlier session
// could add places to git's index.
static const char *const no_grants[] = {
	"limit ",           "package ", "toolchain ", "toolchains ", "path ",
	"package_settings", "home ",    "project ",   "confirm ",    "git ",
	"login ",           "mcp ",     "profile ",   "writable ",   "claude ",
};

// Returns whether a new line gives the box something that earlier sessions did not have.
static bool is_grant(const struct plan *plan, struct arena *arena, const strings *approved,
		     const char *line)
{
	const char *variable = str_after(line, "env ");

	if (variable)
		return is_variable_grant(plan, variable);
	if (str_starts(line, "mount "))
		return is_mount_grant(plan, arena, line);
	if (str_starts(line, "network "))
		return is_wider(plan, approved, arena);
	for (size_t i = 0; i < ARRAY_SIZE(no_grants); i++)
		if (str_starts(line, no_grants[i]))
			return false;
	return true;
}

// Lines without which the box is smaller. Without a limit, or without a setting that is not its
// default, it may be larger.
static const char *const grants_by_line[] = {
	"env ",       "login ",   "host port ",      "published port ", "mcp ",      "path ",
	"toolchain ", "package ", "terminal direct", "nested",          "writable ",
};

// Returns whether a mount is gone and no other mount gives its place to the box: one that was
// read-only may have protected a part of another.
static bool is_mount_gone(const struct plan *plan, struct arena *arena, const char *mount)
{
	const char *path = strchr(mount, ' ');

	if (!path || !(str_starts(mount, "read-only /") || str_starts(mount, "read-write /")))
		return false;
	path = arena_strndup(arena, path + 1, strcspn(path + 1, " "));
	return !strpbrk(path, "\\'\"") && !plan_provides(plan, path);
}

// Returns whether a line that is no longer there makes the box smaller.
static bool is_loss(const struct plan *plan, struct arena *arena, const strings *approved,
		    const char *line)
{
	const char *mount = str_after(line, "mount ");

	if (mount)
		return is_mount_gone(plan, arena, mount);
	if (str_starts(line, "network "))
		return !is_wider(plan, approved, arena);
	if (str_starts(line, "claude "))
		return !str_starts(line, APPROVAL_DENY);
	for (size_t i = 0; i < ARRAY_SIZE(grants_by_line); i++)
		if (str_starts(line, grants_by_line[i]))
			return true;
	return false;
}

// A line of one list that another lacks, and its counterpart there: the same line with another
// digest, or with none, as earlier versions of claudebox record it.
enum counterpart { COUNTERPART_NONE, COUNTERPART_OTHER, COUNTERPART_UNRECORDED };

static enum counterpart find_counterpart(struct arena *arena, const strings *approved,
					 const char *line)
{
	const char *shown = approval_shown(arena, line);

	if (approval_has_line(approved, shown))
		return COUNTERPART_UNRECORDED;
	vec_each(other, approved) {
		if (str_equal(approval_shown(arena, *other), shown))
			return COUNTERPART_OTHER;
	}
	return COUNTERPART_NONE;
}

// Returns whether a new line takes something away from the box.
static bool is_restriction(const struct plan *plan, struct arena *arena, const strings *approved,
			   const char *line)
{
	return str_starts(line, APPROVAL_DENY) ||
	       (str_starts(line, "network ") && !is_wider(plan, approved, arena));
}

// Adds a line that the approved box does not have.
static void add_new(struct plan *plan, struct arena *arena, const strings *approved,
		    const char *line)
{
	static const char *const ends[] = {
		[COUNTERPART_NONE] = "",
		[COUNTERPART_OTHER] = " changed",
		[COUNTERPART_UNRECORDED] = " (its content is recorded from now on)",
	};
	const char *shown = approval_shown(arena, line);
	enum counterpart counterpart = find_counterpart(arena, approved, line);

	vec_push(arena, &plan->changes, arena_printf(arena, "+ %s%s", shown, ends[counterpart]));
	plan->smaller &= !counterpart && is_restriction(plan, arena, approved, line);
	if (!counterpart && is_grant(plan, arena, approved, shown))
		vec_push(arena, &plan->new_grants, shown);
}

// Returns whether add_new() has named an approved line: as one that has changed, or that is a
// secret now.
static bool is_named(struct arena *arena, const strings *now, const strings *approved,
		     const char *line)
{
	const char *shown = approval_shown(arena, line);
	const char *secret = arena_printf(arena, "%s" APPROVAL_SECRET, shown);

	vec_each(other, now) {
		const char *its = approval_shown(arena, *other);

		if ((str_equal(its, shown) || str_equal(its, secret)) &&
		    !approval_has_line(approved, *other))
			return true;
	}
	return false;
}

static void add_changes(struct plan *plan, struct arena *arena, const strings *approved)
{
	strings now = approval_lines(arena, plan);

	vec_each(line, &now) {
		if (!approval_has_line(approved, *line))
			add_new(plan, arena, approved, *line);
	}
	vec_each(line, approved) {
		const char *shown = approval_shown(arena, *line);

		if (approval_has_line(&now, *line) || str_starts(*line, WARNING) ||
		    is_named(arena, &now, approved, *line))
			continue;
		vec_push(arena, &plan->changes,
			 arena_printf(arena, "- %s", quote_display(arena, shown, 0)));
		plan->smaller &= is_loss(plan, arena, approved, shown);
	}
}

void approval_compare(struct plan *plan, struct arena *arena, const char *before)
{
	const struct config *config = plan->config;
	strings approved = { 0 };

	plan->smaller = true;
	if (before)
		approved = str_split_lines(arena, before);
	if (before)
		add_changes(plan, arena, &approved);
	plan->smaller &= plan->changes.count > 0;
	plan->must_ask = !config->yes && config->confirm != CONFIRM_NEVER &&
			 !(config->confirm == CONFIRM_CHANGED && before &&
			   (plan->smaller || !plan->changes.count));
}

void approval_mark_warnings(struct plan *plan, struct arena *arena, const char *before)
{
	strings approved = { 0 };

	if (before)
		approved = str_split_lines(arena, before);
	vec_each(warning, &plan->warnings)
		warning->known = approval_has_line(&approved, warning_line(arena, warning));
}
