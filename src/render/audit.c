// SPDX-License-Identifier: MIT
// The audit (UX-01): everything the box gets, for a person to read before saying yes.
#include "render/audit.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/tables.h"

#include <string.h>

enum {
	NAME_COLUMNS = 20,
	VALUE_COLUMNS = 200, // of a long value; the rest is counted
	NARROW_COLUMNS = 60, // values go below their names
	MASK_ENDS = 4,
	MASK_SHORTEST = 20,
};

const char *const origin_marks[ORIGIN_COUNT] = {
	[ORIGIN_GENERATED] = "[~]",
	[ORIGIN_ALLOWED] = "[>]",
	[ORIGIN_ASKED] = "[+]",
};

const char *render_masked(struct arena *arena, const char *value)
{
	size_t length = strlen(value);
	const char *first;
	const char *last;

	if (length < MASK_SHORTEST)
		return "********";
	first = arena_strndup(arena, value, MASK_ENDS);
	last = value + length - MASK_ENDS;
	return arena_printf(arena, "%s...%s", quote_display(arena, first, 0),
			    quote_display(arena, last, 0));
}

static const char *shown_value(struct screen *screen, const char *value)
{
	return quote_display(screen->arena, value, VALUE_COLUMNS);
}

static void add_value(struct screen *screen, const char *value, const char *wanted_by,
		      size_t indent, size_t used)
{
	used = screen_add_broken(screen, STYLE_PLAIN, value, indent, used);
	if (wanted_by)
		screen_add_words(screen, STYLE_DIM,
				 arena_printf(screen->arena, "  (%s)", wanted_by), indent, used);
	text_add(&screen->out, "\n");
}

static void add_path_list(struct screen *screen, const char *list, size_t indent)
{
	for (const char *s = list; *s;) {
		size_t length = strcspn(s, ":");

		if (s != list)
			screen_add_blanks(screen, indent);
		add_value(screen, shown_value(screen, arena_strndup(screen->arena, s, length)),
			  NULL, indent, 0);
		s += length + (s[length] == ':');
	}
	if (!*list)
		text_add(&screen->out, "\n");
}

static void add_variable(struct screen *screen, const struct plan_variable *variable)
{
	bool narrow = screen_narrow(screen, NARROW_COLUMNS);
	size_t indent = narrow ? 8 : NAME_COLUMNS + 7;
	const char *wanted_by = variable->origin == ORIGIN_ASKED ? variable->why : NULL;
	size_t name;

	text_add(&screen->out, "  ");
	screen_add(screen, variable->origin == ORIGIN_ASKED ? STYLE_ASKED : STYLE_DIM,
		   origin_marks[variable->origin]);
	text_add(&screen->out, " ");
	name = screen_add_broken(screen, STYLE_PLAIN, shown_value(screen, variable->name), 6, 0);
	if (narrow)
		screen_end_line(screen, indent);
	else
		screen_add_blanks(screen, name < NAME_COLUMNS ? NAME_COLUMNS + 1 - name : 1);
	if (str_equal(variable->name, "PATH"))
		add_path_list(screen, variable->value, indent);
	else
		add_value(screen,
			  variable->secret
				  ? arena_printf(screen->arena, "%s (masked)",
						 render_masked(screen->arena, variable->value))
				  : shown_value(screen, variable->value),
			  wanted_by, indent,
			  narrow || name < NAME_COLUMNS ? 0 : name - NAME_COLUMNS);
}

static void add_packages(struct screen *screen, const struct plan *plan)
{
	if (!plan->packages.count)
		return;
	screen_add(screen, STYLE_HEAD, "\nPackages:");
	text_add(&screen->out, "  from Nix, first in PATH\n");
	vec_each(package, &plan->packages) {
		struct text line = { .arena = screen->arena };

		text_printf(&line, "%s %s", quote_word(screen->arena, package->name, 0),
			    quote_word(screen->arena, package->path, 0));
		if (package->origin || !package->bin)
			text_printf(&line, " (%s%s%s)",
				    package->origin
					    ? quote_display(screen->arena, package->origin, 80)
					    : "",
				    package->origin && !package->bin ? "; " : "",
				    package->bin ? "" : "no programs in it");
		text_printf(&screen->out, "  %s ", origin_marks[ORIGIN_ASKED]);
		screen_add_wrapped(screen, STYLE_ASKED, text_get(&line), 6);
	}
}

static const char *shown_path(struct screen *screen, const char *path)
{
	return quote_word(screen->arena, path_tilde(screen->arena, path, screen->home), 0);
}

static const char *shown_mount(struct screen *screen, const struct plan_mount *mount)
{
	const char *path = shown_path(screen, mount->path);

	if (mount->kind == MOUNT_LINK)
		return arena_printf(screen->arena, "%s -> %s", path,
				    shown_path(screen, mount->source));
	if (mount->kind != MOUNT_DATA && mount->source && !str_equal(mount->source, mount->path))
		return arena_printf(screen->arena, "%s <- %s", path,
				    shown_path(screen, mount->source));
	return path;
}

static bool same_row(const struct plan_mount *a, const struct plan_mount *b)
{
	return a->kind == b->kind && a->origin == b->origin && str_equal(a->why, b->why) &&
	       str_equal(a->secret, b->secret);
}

// All mounts of one kind, origin and reason share a row, which stands where the first of them is.
static void add_mount_row(struct screen *screen, const struct plan *plan,
			  const struct plan_mount *first)
{
	struct text line = { .arena = screen->arena };
	const char *separator = "";

	vec_each(mount, &plan->mounts) {
		if (!same_row(mount, first))
			continue;
		if (mount < first)
			return; // shown before
		text_printf(&line, "%s%s", separator, shown_mount(screen, mount));
		separator = ", ";
	}
	if (first->secret)
		text_printf(&line, " SECRET: %s", first->secret);
	text_printf(&line, " (%s)", first->why);
	text_printf(&screen->out, "  %s %-10s ", origin_marks[first->origin],
		    mount_kind_names[first->kind]);
	screen_add_wrapped(screen,
			   first->secret                   ? STYLE_DANGER
			   : first->kind == MOUNT_WRITABLE ? STYLE_HEAD
							   : STYLE_PLAIN,
			   text_get(&line), 17);
}

// What the box can change comes first.
static void add_mounts(struct screen *screen, const struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (mount->why && mount->kind == MOUNT_WRITABLE)
			add_mount_row(screen, plan, mount);
	}
	vec_each(mount, &plan->mounts) {
		if (mount->why && mount->kind != MOUNT_WRITABLE)
			add_mount_row(screen, plan, mount);
	}
}

static void add_marked_line(struct screen *screen, enum origin origin, const char *text)
{
	text_printf(&screen->out, "  %s ", origin_marks[origin]);
	screen_add_wrapped(screen, origin == ORIGIN_ASKED ? STYLE_ASKED : STYLE_PLAIN, text, 6);
}

// What the tier inet refuses beyond the ranges that are the same everywhere, and what it lets through.
static void add_inet(struct screen *screen, const struct plan_network *inet)
{
	struct text own = { .arena = screen->arena };

	vec_each(row, &inet->host)
		text_printf(&own, "%s%s (%s)", own.length ? ", " : "",
			    address_render(screen->arena, &row->range), row->why);
	add_marked_line(screen, ORIGIN_GENERATED,
			arena_printf(screen->arena,
				     "refused at once: private, link-local and multicast "
				     "addresses, tailnets, cloud metadata, this machine's own "
				     "addresses and networks%s%s",
				     own.length ? ": " : "", text_get(&own)));
	add_marked_line(screen, ORIGIN_GENERATED,
			inet->ipv4 && inet->ipv6
				? "IPv4 and IPv6; names by this machine's resolvers"
			: inet->ipv4 ? "IPv4, as this machine; names by its resolvers"
				     : "IPv6, as this machine; names by its resolvers");
	vec_each(port, &inet->host_ports)
		add_marked_line(screen, ORIGIN_ASKED,
				arena_printf(screen->arena,
					     "127.0.0.1:%u in the box is port %u of the host's own "
					     "loopback (%s)",
					     port->number, port->number, port->origin));
	vec_each(port, &inet->published_ports)
		add_marked_line(screen, ORIGIN_ASKED,
				arena_printf(screen->arena,
					     "127.0.0.1:%u on the host is port %u of the box "
					     "(%s)",
					     port->number, port->number, port->origin));
}

static void add_network(struct screen *screen, const struct plan *plan)
{
	const struct tier_row *tier = &tier_table[plan->network];

	screen_add(screen, STYLE_HEAD, "\nNetwork:");
	text_add(&screen->out, "\n  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   plan->network_by ? arena_printf(screen->arena, "%s (%s)", tier->meaning,
							   plan->network_by)
					    : tier->meaning,
			   2);
	if (tier->attached)
		add_inet(screen, &plan->inet);
	if (plan->nix_daemon_left_out)
		add_marked_line(screen, ORIGIN_GENERATED,
				arena_printf(screen->arena, "the Nix daemon is not in the box: %s",
					     plan->nix_daemon_left_out));
}

static void add_limits(struct screen *screen, const struct plan_limits *limits)
{
	if (limits->way == LIMITS_NONE)
		return;
	screen_add(screen, STYLE_HEAD, "\nLimits:");
	text_add(&screen->out, "  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   limits->way == LIMITS_SYSTEMD
				   ? "by systemd, in a scope"
				   : arena_printf(screen->arena, "by a cgroup in %s",
						  quote_word(screen->arena, limits->parent, 0)),
			   9);
	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &limits->values[limit];
		const char *text = limits_render_text(screen->arena, (enum limit)limit, row->value);

		if (row->value)
			add_marked_line(screen, row->origin ? ORIGIN_ASKED : ORIGIN_GENERATED,
					row->origin ? arena_printf(screen->arena, "%s (%s)", text,
								   row->origin)
						    : text);
	}
}

static void add_terminal(struct screen *screen, const struct plan *plan)
{
	if (plan->terminal == TERMINAL_FILTERED)
		return;
	screen_add(screen, STYLE_HEAD, "\nTerminal:");
	text_add(&screen->out, "\n  ");
	screen_add_wrapped(
		screen, STYLE_DANGER,
		"direct: the box has your own terminal; the agent can read what you type into your "
		"shell and write any escape sequence",
		2);
}

static void add_notes(struct screen *screen, const struct plan *plan)
{
	vec_each(note, &plan->notes) {
		text_add(&screen->out, "\n");
		screen_add(screen, STYLE_HEAD, note->title);
		text_add(&screen->out, "\n");
		for (size_t i = 0; i < ARRAY_SIZE(note->lines); i++) {
			text_add(&screen->out, "  ");
			screen_add_wrapped(screen, STYLE_PLAIN, note->lines[i], 2);
		}
	}
}

static void add_upgrade(struct screen *screen, const struct plan *plan)
{
	if (!plan->state.upgrade.needed)
		return;
	screen_add(screen, STYLE_HEAD, "\nUpgrade:");
	text_add(&screen->out, "\n");
	vec_each(sentence, &plan->state.upgrade.notes) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, STYLE_PLAIN, *sentence, 2);
	}
}

const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	screen.home = plan->home;
	screen_add(&screen, STYLE_HEAD, "claudebox: ");
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   plan->profile
				   ? arena_printf(arena, "%s (profile %s)",
						  shown_path(&screen, plan->project), plan->profile)
				   : shown_path(&screen, plan->project),
			   11);
	if (plan->profile_description) {
		text_add(&screen.out, "           ");
		screen_add_wrapped(&screen, STYLE_DIM,
				   quote_display(arena, plan->profile_description, VALUE_COLUMNS),
				   11);
	}
	text_add(&screen.out, "\n");
	screen_add(&screen, STYLE_HEAD, "Environment:");
	text_add(&screen.out, "  ");
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   "[~] made by claudebox, [>] from the host, [+] asked for", 14);
	vec_each(variable, &plan->variables)
		add_variable(&screen, variable);
	add_packages(&screen, plan);
	screen_add(&screen, STYLE_HEAD, "\nMounts:");
	text_add(&screen.out, "  all else is empty\n");
	add_mounts(&screen, plan);
	add_network(&screen, plan);
	add_terminal(&screen, plan);
	add_limits(&screen, &plan->limits);
	add_upgrade(&screen, plan);
	if (plan->changes.count) {
		screen_add(&screen, STYLE_HEAD, "\nChanged since you last said yes here:");
		text_add(&screen.out, "\n");
	}
	vec_each(change, &plan->changes) {
		text_add(&screen.out, "  ");
		screen_add_wrapped(&screen, **change == '+' ? STYLE_ASKED : STYLE_DIM, *change, 4);
	}
	if (plan->warnings.count) {
		screen_add(&screen, STYLE_WARN, "\nWarnings:");
		text_add(&screen.out, "\n");
	}
	vec_each(warning, &plan->warnings) {
		text_add(&screen.out, "  ! ");
		screen_add_wrapped(&screen, STYLE_PLAIN, *warning, 4); // quoted when it was made
	}
	add_notes(&screen, plan);
	text_add(&screen.out, "\n");
	return text_get(&screen.out);
}
