// SPDX-License-Identifier: MIT
// The audit in full: everything that the box gets.
#include "render/audit/audit.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/origin.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/audit/claude.h"
#include "render/audit/guard.h"
#include "render/audit/parts.h"
#include "render/audit/toolchains.h"
#include "render/mask.h"

#include <string.h>

enum { NARROW_COLUMNS = 60 }; // on a narrower screen values are below their names

// Adds a value and the name of its origin, NULL: none.
static void add_value(struct screen *screen, const char *value, const char *origin, size_t indent,
		      size_t used)
{
	used = screen_add_broken(screen, STYLE_PLAIN, value, indent, used);
	if (origin)
		screen_add_words(screen, STYLE_DIM, arena_printf(screen->arena, "  (%s)", origin),
				 indent, used);
	text_add(&screen->out, "\n");
}

static void add_path_list(struct screen *screen, const char *list, size_t indent)
{
	for (const char *s = list; *s;) {
		size_t length = strcspn(s, ":");

		if (s != list)
			screen_add_blanks(screen, indent);
		add_value(screen, audit_value(screen, arena_strndup(screen->arena, s, length)),
			  NULL, indent, 0);
		s += length + (s[length] == ':');
	}
	if (!*list)
		text_add(&screen->out, "\n");
}

static void add_variable(struct screen *screen, const struct plan_variable *variable,
			 size_t name_columns)
{
	bool narrow = screen_narrow(screen, NARROW_COLUMNS);
	const char *hidden = render_hidden(screen->arena, variable);
	const char *shown = hidden ? hidden : audit_value(screen, variable->value);
	const char *name = audit_value(screen, variable->name);
	size_t indent = narrow ? 8 : name_columns + 7;

	if (hidden && variable->origin.kind != ORIGIN_REQUESTED)
		shown = arena_printf(screen->arena, "%s (masked)", hidden);
	audit_add_mark(screen, variable->origin.kind);
	if (narrow) {
		screen_add_broken(screen, STYLE_PLAIN, name, 6, 0);
		screen_end_line(screen, indent);
	} else {
		audit_add_name(screen, name, name_columns);
	}
	if (str_equal(variable->name, "PATH"))
		add_path_list(screen, variable->value, indent);
	else
		add_value(screen, shown, variable->origin.name, indent, 0);
}

static void add_variables(struct screen *screen, const struct plan *plan)
{
	strings names = { 0 };
	size_t columns;

	vec_each(variable, &plan->variables)
		vec_push(screen->arena, &names, audit_value(screen, variable->name));
	columns = audit_name_columns(screen, &names);
	audit_add_title(screen, STYLE_HEAD, "Environment:");
	text_add(&screen->out, "\n");
	vec_each(variable, &plan->variables)
		add_variable(screen, variable, columns);
}

static void add_package(struct screen *screen, const struct package_facts *package, size_t columns)
{
	const char *origin = package->origin.name;
	struct text line = { .arena = screen->arena };

	text_add(&line, quote_word(screen->arena, package->path, 0));
	if (origin || !package->bin)
		text_printf(&line, " (%s%s%s)",
			    origin ? quote_display(screen->arena, origin, 80) : "",
			    origin && !package->bin ? "; " : "",
			    package->bin ? "" : "without programs");
	audit_add_mark(screen, ORIGIN_REQUESTED);
	audit_add_name(screen, quote_word(screen->arena, package->name, 0), columns);
	screen_add_wrapped(screen, STYLE_REQUESTED, text_get(&line), 7 + columns);
}

static void add_packages(struct screen *screen, const struct plan *plan)
{
	strings names = { 0 };

	if (!plan->packages.count)
		return;
	vec_each(package, &plan->packages)
		vec_push(screen->arena, &names, quote_word(screen->arena, package->name, 0));
	audit_add_title(screen, STYLE_HEAD, "Packages:");
	text_add(&screen->out, "  from Nix, first in PATH\n");
	vec_each(package, &plan->packages)
		add_package(screen, package, audit_name_columns(screen, &names));
}

static bool same_row(const struct plan_mount *a, const struct plan_mount *b)
{
	return a->kind == b->kind && a->origin.kind == b->origin.kind &&
	       str_equal(plan_mount_reason(a), plan_mount_reason(b)) &&
	       str_equal(a->secret, b->secret) && str_equal(a->later, b->later);
}

// Adds a row for all mounts of one kind, origin and reason, in place of the first of them.
static void add_mount_row(struct screen *screen, const struct plan *plan,
			  const struct plan_mount *first)
{
	struct text line = { .arena = screen->arena };
	const char *separator = "";

	vec_each(mount, &plan->mounts) {
		if (!same_row(mount, first))
			continue;
		if (mount < first)
			return; // in the row of an earlier mount
		text_printf(&line, "%s%s", separator, audit_mount(screen, mount));
		separator = ", ";
	}
	if (first->secret)
		text_printf(&line, " SECRET: %s", first->secret);
	else if (first->later)
		text_printf(&line, " no SECRET yet: %s may appear", first->later);
	text_printf(&line, " (%s)", plan_mount_reason(first));
	audit_add_mark(screen, first->origin.kind);
	text_printf(&screen->out, "%-10s ", mount_kind_names[first->kind]);
	screen_add_wrapped(screen,
			   first->secret                   ? STYLE_DANGER
			   : first->kind == MOUNT_WRITABLE ? STYLE_HEAD
							   : STYLE_PLAIN,
			   text_get(&line), 17);
}

// Adds the mounts, those that the box can change first.
static void add_mounts(struct screen *screen, const struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (plan_mount_reason(mount) && mount->kind == MOUNT_WRITABLE)
			add_mount_row(screen, plan, mount);
	}
	vec_each(mount, &plan->mounts) {
		if (plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE && !mount->toolchain)
			add_mount_row(screen, plan, mount);
	}
}

static void add_head(struct screen *screen, const struct plan *plan)
{
	const char *description = plan->config->profile_description;

	screen_add(screen, STYLE_HEAD, "claudebox: ");
	screen_add_wrapped(screen, STYLE_PLAIN, audit_project(screen, plan), 11);
	if (description) {
		text_add(&screen->out, "           ");
		screen_add_wrapped(screen, STYLE_DIM, audit_value(screen, description), 11);
	}
	screen_add(screen, STYLE_HEAD, "Marks:     ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   "[~] made by claudebox or in every box, [>] yours, taken from the host, "
			   "[+] asked for by you",
			   11);
}

const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	screen.home = plan->home;
	add_head(&screen, plan);
	add_variables(&screen, plan);
	add_packages(&screen, plan);
	audit_add_title(&screen, STYLE_HEAD, "Mounts:");
	text_add(&screen.out, "  other paths do not exist\n");
	add_mounts(&screen, plan);
	audit_add_toolchains(&screen, plan);
	audit_add_servers(&screen, plan);
	audit_add_guard(&screen, plan);
	audit_add_left_out(&screen, plan);
	audit_add_unused_settings(&screen, plan);
	audit_add_network(&screen, plan);
	audit_add_terminal(&screen, plan);
	audit_add_settings(&screen, plan);
	audit_add_limits(&screen, plan);
	audit_add_upgrade(&screen, plan);
	audit_add_changes(&screen, plan);
	audit_add_warnings(&screen, plan, true);
	audit_add_notes(&screen, plan);
	text_add(&screen.out, "\n");
	return text_get(&screen.out);
}

// Adds in one paragraph what the box had and no longer has. --yes approves nothing, so this comes
// at every start: a number is enough there.
static void add_losses(struct screen *screen, const struct plan *plan)
{
	static const char title[] = "No longer in the box: ";
	struct text out = { .arena = screen->arena };
	size_t count = 0;

	vec_each(change, &plan->changes) {
		if (**change != '-')
			continue;
		text_printf(&out, "%s%s", count++ ? ", " : "",
			    audit_change(screen, *change) + strlen("- "));
	}
	if (!count) {
		audit_add_changes(screen, plan); // something new that takes away, such as a rule
		return;
	}
	if (!plan->config->yes) {
		audit_add_title(screen, STYLE_HEAD, title);
		screen_add_wrapped(screen, STYLE_PLAIN, text_get(&out), strlen(title));
		return;
	}
	screen_add_wrapped(screen, STYLE_DIM,
			   arena_printf(screen->arena,
					"%zu thing%s of the last approval %s no longer in the box: "
					"--audit=full",
					count, count == 1 ? "" : "s", count == 1 ? "is" : "are"),
			   0);
}

static void add_left_out_count(struct screen *screen, const struct plan *plan)
{
	size_t count = plan->left_out.count;

	if (count)
		screen_add_wrapped(screen, STYLE_DIM,
				   arena_printf(screen->arena,
						"%zu thing%s of yours %s not in the box: claudebox "
						"--check lists %s",
						count, count == 1 ? "" : "s",
						count == 1 ? "is" : "are",
						count == 1 ? "it" : "them"),
				   0);
}

const char *render_audit_changes(const struct plan *plan, struct arena *arena, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	screen.home = plan->home;
	if (plan->config->terminal == TERMINAL_DIRECT) // in red
		audit_add_terminal(&screen, plan);
	audit_add_upgrade(&screen, plan);
	if (plan->smaller)
		add_losses(&screen, plan);
	else
		audit_add_changes(&screen, plan);
	audit_add_warnings(&screen, plan, false);
	if (screen.out.length)
		text_add(&screen.out, "\n");
	add_left_out_count(&screen, plan);
	return text_get(&screen.out);
}
