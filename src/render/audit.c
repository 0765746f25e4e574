// SPDX-License-Identifier: MIT
// The audit: everything that the box gets, shown to the user before the start.
#include "render/audit.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/origin.h"
#include "config/profile_schema.h"
#include "config/profile_settings.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/audit_claude.h"
#include "render/audit_toolchains.h"
#include "render/mask.h"

#include <string.h>

enum {
	NAME_COLUMNS = 20,
	VALUE_COLUMNS = 200, // of a long value; the rest is given as a number of bytes
	NARROW_COLUMNS = 60, // on a narrower screen values are below their names
};

const char *const origin_marks[ORIGIN_KIND_COUNT] = {
	[ORIGIN_GENERATED] = "[~]",
	[ORIGIN_ALLOWED] = "[>]",
	[ORIGIN_REQUESTED] = "[+]",
};

static const char *shown_value(struct screen *screen, const char *value)
{
	return quote_display(screen->arena, value, VALUE_COLUMNS);
}

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
	const char *hidden = render_hidden(screen->arena, variable);
	const char *shown = hidden ? hidden : shown_value(screen, variable->value);
	size_t indent = narrow ? 8 : NAME_COLUMNS + 7;
	size_t name;

	if (hidden && variable->origin.kind != ORIGIN_REQUESTED)
		shown = arena_printf(screen->arena, "%s (masked)", hidden);
	text_add(&screen->out, "  ");
	screen_add(screen, variable->origin.kind == ORIGIN_REQUESTED ? STYLE_REQUESTED : STYLE_DIM,
		   origin_marks[variable->origin.kind]);
	text_add(&screen->out, " ");
	name = screen_add_broken(screen, STYLE_PLAIN, shown_value(screen, variable->name), 6, 0);
	if (narrow)
		screen_end_line(screen, indent);
	else
		screen_add_blanks(screen, name < NAME_COLUMNS ? NAME_COLUMNS + 1 - name : 1);
	if (str_equal(variable->name, "PATH"))
		add_path_list(screen, variable->value, indent);
	else
		add_value(screen, shown, variable->origin.name, indent,
			  narrow || name < NAME_COLUMNS ? 0 : name - NAME_COLUMNS);
}

static void add_packages(struct screen *screen, const struct plan *plan)
{
	if (!plan->packages.count)
		return;
	screen_add(screen, STYLE_HEAD, "\nPackages:");
	text_add(&screen->out, "  from Nix, first in PATH\n");
	vec_each(package, &plan->packages) {
		const char *origin = package->origin.name;
		struct text line = { .arena = screen->arena };

		text_printf(&line, "%s %s", quote_word(screen->arena, package->name, 0),
			    quote_word(screen->arena, package->path, 0));
		if (origin || !package->bin)
			text_printf(&line, " (%s%s%s)",
				    origin ? quote_display(screen->arena, origin, 80) : "",
				    origin && !package->bin ? "; " : "",
				    package->bin ? "" : "without programs");
		text_printf(&screen->out, "  %s ", origin_marks[ORIGIN_REQUESTED]);
		screen_add_wrapped(screen, STYLE_REQUESTED, text_get(&line), 6);
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
		text_printf(&line, "%s%s", separator, shown_mount(screen, mount));
		separator = ", ";
	}
	if (first->secret)
		text_printf(&line, " SECRET: %s", first->secret);
	else if (first->later)
		text_printf(&line, " no SECRET yet: %s may appear", first->later);
	text_printf(&line, " (%s)", plan_mount_reason(first));
	text_printf(&screen->out, "  %s %-10s ", origin_marks[first->origin.kind],
		    mount_kind_names[first->kind]);
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

// Adds a line with the mark of an origin and its name.
static void add_marked_line(struct screen *screen, const struct origin *origin, const char *text)
{
	if (origin->name)
		text = arena_printf(screen->arena, "%s (%s)", text, origin->name);
	text_printf(&screen->out, "  %s ", origin_marks[origin->kind]);
	screen_add_wrapped(screen, origin->kind == ORIGIN_REQUESTED ? STYLE_REQUESTED : STYLE_PLAIN,
			   text, 6);
}

static void add_generated_line(struct screen *screen, const char *text)
{
	add_marked_line(screen, &(struct origin){ .kind = ORIGIN_GENERATED }, text);
}

// Adds the addresses of this machine that the tier inet refuses, and the ports that it opens.
static void add_inet(struct screen *screen, const struct plan *plan)
{
	const struct plan_network *inet = &plan->inet;
	struct text own = { .arena = screen->arena };

	vec_each(row, &inet->host)
		text_printf(&own, "%s%s (%s)", own.length ? ", " : "",
			    address_render(screen->arena, &row->range), row->why);
	add_generated_line(screen, arena_printf(screen->arena,
						"refused: private, link-local and multicast "
						"addresses, tailnets, cloud metadata, this "
						"machine's own addresses and networks%s%s",
						own.length ? ": " : "", text_get(&own)));
	add_generated_line(screen, inet->ipv4 && inet->ipv6
					   ? "IPv4 and IPv6; names by this machine's resolvers"
				   : inet->ipv4 ? "IPv4, as this machine; names by its resolvers"
						: "IPv6, as this machine; names by its resolvers");
	vec_each(port, &plan->config->host_ports)
		add_marked_line(screen, &port->origin,
				arena_printf(screen->arena,
					     "127.0.0.1:%u in the box is port %u of the host's own "
					     "loopback",
					     port->number, port->number));
	vec_each(port, &plan->config->published_ports)
		add_marked_line(
			screen, &port->origin,
			arena_printf(screen->arena,
				     "127.0.0.1:%u on the host, for all of its users, is port %u of "
				     "the box",
				     port->number, port->number));
}

static void add_network(struct screen *screen, const struct plan *plan)
{
	const struct tier_row *tier = &tier_table[plan->config->network];
	const char *origin = plan->config->network_origin.name;

	screen_add(screen, STYLE_HEAD, "\nNetwork:");
	text_add(&screen->out, "\n  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   origin ? arena_printf(screen->arena, "%s (%s)", tier->meaning, origin)
				  : tier->meaning,
			   2);
	if (tier->attached)
		add_inet(screen, plan);
	if (plan->nix_daemon_left_out)
		add_generated_line(screen, arena_printf(screen->arena,
							"the box does not have the Nix daemon: %s",
							plan->nix_daemon_left_out));
}

static void add_limits(struct screen *screen, const struct plan_limits *limits)
{
	if (limits->method == LIMITS_NONE)
		return;
	screen_add(screen, STYLE_HEAD, "\nLimits:");
	text_add(&screen->out, "  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   limits->method == LIMITS_SYSTEMD
				   ? "by systemd, in a scope"
				   : arena_printf(screen->arena, "by a cgroup in %s",
						  quote_word(screen->arena, limits->parent, 0)),
			   9);
	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &limits->values[limit];

		if (row->value)
			add_marked_line(screen, &row->origin,
					limits_render_text(screen->arena, (enum limit)limit,
							   row->value));
	}
}

// Adds what the box may do with the user's terminal besides the default.
static void add_terminal(struct screen *screen, const struct plan *plan)
{
	static const char *const effects[TERMINAL_CLASS_COUNT] = {
		[TERMINAL_TITLE] = "title: the agent sets the title of the window",
		[TERMINAL_NOTIFY] = "notify: the agent shows notifications",
		[TERMINAL_CLIPBOARD] = "clipboard: the agent decides what you paste next",
		[TERMINAL_IMAGES] = "images: the agent sends images to your terminal",
	};
	const struct config *config = plan->config;
	unsigned int allowed = config_terminal_allowed(config);

	if (config->terminal == TERMINAL_FILTERED && !config->terminal_allow)
		return;
	screen_add(screen, STYLE_HEAD, "\nTerminal:");
	text_add(&screen->out, "\n");
	if (config->terminal == TERMINAL_DIRECT) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, STYLE_DANGER,
				   "direct: the box has your own terminal; the agent can read what "
				   "you type into your shell and write any escape sequence",
				   2);
		return;
	}
	for (int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
		if (allowed & TERMINAL_BIT(class))
			add_marked_line(screen, &config->terminal_allow_origin, effects[class]);
	if (!allowed)
		add_marked_line(screen, &config->terminal_allow_origin,
				"no titles, no notifications, no bell");
}

// Adds the settings that no other part of the audit shows.
static void add_settings(struct screen *screen, const struct plan *plan)
{
	profile_settings settings =
		profile_settings_list(screen->arena, plan->config, SETTING_IN_AUDIT);

	if (!settings.count)
		return;
	screen_add(screen, STYLE_HEAD, "\nSettings:");
	text_add(&screen->out, "\n");
	vec_each(setting, &settings)
		add_marked_line(screen, setting->origin,
				arena_printf(screen->arena, "%s: %s", setting->row->key,
					     shown_value(screen, setting->text)));
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

static void add_head(struct screen *screen, const struct plan *plan)
{
	const char *project = shown_path(screen, plan->project);
	const char *profile = plan->config->profile;
	const char *pattern = plan->config->profile_directory;
	const char *description = plan->config->profile_description;

	if (profile && pattern)
		profile = arena_printf(screen->arena, "%s, by directory %s", profile,
				       quote_word(screen->arena, pattern, VALUE_COLUMNS));
	screen_add(screen, STYLE_HEAD, "claudebox: ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   profile ? arena_printf(screen->arena, "%s (profile %s)", project,
						  profile)
				   : project,
			   11);
	if (description) {
		text_add(&screen->out, "           ");
		screen_add_wrapped(screen, STYLE_DIM, shown_value(screen, description), 11);
	}
	text_add(&screen->out, "\n");
}

static void add_changes(struct screen *screen, const struct plan *plan)
{
	if (!plan->changes.count)
		return;
	screen_add(screen, STYLE_HEAD, "\nChanged since your last approval:");
	text_add(&screen->out, "\n");
	vec_each(change, &plan->changes) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, **change == '+' ? STYLE_REQUESTED : STYLE_DIM, *change,
				   4);
	}
}

static void add_warnings(struct screen *screen, const struct plan *plan)
{
	if (!plan->warnings.count && !plan->dangers.count)
		return;
	screen_add(screen, STYLE_WARN, "\nWarnings:");
	text_add(&screen->out, "\n");
	vec_each(danger, &plan->dangers) {
		text_add(&screen->out, "  ! ");
		screen_add_wrapped(screen, STYLE_DANGER, *danger, 4);
	}
	vec_each(warning, &plan->warnings) {
		text_add(&screen->out, "  ! ");
		screen_add_wrapped(screen, STYLE_PLAIN, *warning, 4); // quoted by the plan
	}
}

const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	screen.home = plan->home;
	add_head(&screen, plan);
	screen_add(&screen, STYLE_HEAD, "Environment:");
	text_add(&screen.out, "  ");
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   "[~] generated by claudebox, [>] from the host, [+] requested", 14);
	vec_each(variable, &plan->variables)
		add_variable(&screen, variable);
	add_packages(&screen, plan);
	screen_add(&screen, STYLE_HEAD, "\nMounts:");
	text_add(&screen.out, "  other paths do not exist\n");
	add_mounts(&screen, plan);
	audit_add_toolchains(&screen, plan);
	audit_add_servers(&screen, plan);
	audit_add_left_out(&screen, plan);
	add_network(&screen, plan);
	add_terminal(&screen, plan);
	add_settings(&screen, plan);
	add_limits(&screen, &plan->limits);
	add_upgrade(&screen, plan);
	add_changes(&screen, plan);
	add_warnings(&screen, plan);
	add_notes(&screen, plan);
	text_add(&screen.out, "\n");
	return text_get(&screen.out);
}
