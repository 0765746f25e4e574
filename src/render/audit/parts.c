// SPDX-License-Identifier: MIT
// Parts of the audit that its forms share, and the sections of the full list that are not about
// variables, mounts and packages.
#include "render/audit/parts.h"

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

#include <stdbool.h>
#include <string.h>

enum {
	VALUE_COLUMNS = 200,    // of a long value; the rest is given as a number of bytes
	MARK_COLUMNS = 6,       // of a mark at the start of a line
	PIPE_NAME_COLUMNS = 32, // of a name where lines are not wrapped
};

const char *const origin_marks[ORIGIN_KIND_COUNT] = {
	[ORIGIN_GENERATED] = "[~]",
	[ORIGIN_ALLOWED] = "[>]",
	[ORIGIN_REQUESTED] = "[+]",
};
const enum style origin_styles[ORIGIN_KIND_COUNT] = {
	[ORIGIN_GENERATED] = STYLE_DIM,
	[ORIGIN_ALLOWED] = STYLE_ALLOWED,
	[ORIGIN_REQUESTED] = STYLE_REQUESTED,
};
const char *const audit_terminal_effects[TERMINAL_CLASS_COUNT] = {
	[TERMINAL_TITLE] = "title: the agent sets the title of the window",
	[TERMINAL_NOTIFY] = "notify: the agent shows notifications",
	[TERMINAL_CLIPBOARD] = "clipboard: the agent decides what you paste next",
	[TERMINAL_IMAGES] = "images: the agent sends images to your terminal",
};
const char audit_terminal_direct[] =
	"direct: the box has your own terminal; the agent can read what you type into your shell "
	"and write any escape sequence";

const char *audit_value(struct screen *screen, const char *value)
{
	return quote_display(screen->arena, value, VALUE_COLUMNS);
}

const char *audit_path(struct screen *screen, const char *path)
{
	return quote_word(screen->arena, path_tilde(screen->arena, path, screen->home), 0);
}

const char *audit_project(struct screen *screen, const struct plan *plan)
{
	const char *project = audit_path(screen, plan->project);
	const char *profile = plan->config->profile;
	const char *pattern = plan->config->profile_directory;

	if (!profile)
		return project;
	return pattern ? arena_printf(screen->arena, "%s (profile %s, by directory %s)", project,
				      profile, quote_word(screen->arena, pattern, VALUE_COLUMNS))
		       : arena_printf(screen->arena, "%s (profile %s)", project, profile);
}

const char *audit_mount(struct screen *screen, const struct plan_mount *mount)
{
	const char *path = audit_path(screen, mount->path);

	if (mount->kind == MOUNT_LINK)
		return arena_printf(screen->arena, "%s -> %s", path,
				    audit_path(screen, mount->source));
	if (mount->copy_of)
		return arena_printf(screen->arena, "%s <- copy of %s", path,
				    audit_path(screen, mount->copy_of));
	if (mount->kind != MOUNT_DATA && mount->kind != MOUNT_PROGRAM && mount->source &&
	    !str_equal(mount->source, mount->path))
		return arena_printf(screen->arena, "%s <- %s", path,
				    audit_path(screen, mount->source));
	return path;
}

const char *audit_change(struct screen *screen, const char *change)
{
	const char *home = arena_printf(screen->arena, " %s", screen->home);
	struct text out = { .arena = screen->arena };
	const char *found;

	while ((found = strstr(change, home))) {
		const char *after = found + strlen(home);
		bool word = found == change || found[-1] != '\\'; // not a blank in a path

		text_add_bytes(&out, change, (size_t)(found - change));
		text_add(&out, word && (!*after || *after == '/' || *after == ' ') ? " ~" : home);
		change = after;
	}
	text_add(&out, change);
	return text_get(&out);
}

void audit_add_title(struct screen *screen, enum style style, const char *title)
{
	if (screen->out.length)
		text_add(&screen->out, "\n");
	screen_add(screen, style, title);
}

void audit_add_mark(struct screen *screen, enum origin_kind kind)
{
	text_add(&screen->out, "  ");
	screen_add(screen, origin_styles[kind], origin_marks[kind]);
	text_add(&screen->out, " ");
}

size_t audit_name_columns(const struct screen *screen, const strings *names)
{
	size_t most = screen->reader.columns ? screen->reader.columns / 3 : PIPE_NAME_COLUMNS;
	size_t columns = 0;

	vec_each(name, names) {
		size_t width = screen_width(screen, *name);

		if (width > columns && width <= most)
			columns = width;
	}
	return columns;
}

void audit_add_name(struct screen *screen, const char *name, size_t columns)
{
	size_t width = screen_width(screen, name);

	screen_add_broken(screen, STYLE_PLAIN, name, MARK_COLUMNS, 0);
	if (width > columns)
		screen_end_line(screen, MARK_COLUMNS + columns + 1);
	else
		screen_add_blanks(screen, columns + 1 - width);
}

// Adds a line with the mark of an origin and its name.
static void add_marked_line(struct screen *screen, const struct origin *origin, const char *text)
{
	if (origin->name)
		text = arena_printf(screen->arena, "%s (%s)", text, origin->name);
	audit_add_mark(screen, origin->kind);
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

void audit_add_network(struct screen *screen, const struct plan *plan)
{
	const struct tier_row *tier = &tier_table[plan->config->network];
	const char *origin = plan->config->network_origin.name;

	audit_add_title(screen, STYLE_HEAD, "Network:");
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

void audit_add_limits(struct screen *screen, const struct plan *plan)
{
	const struct plan_limits *limits = &plan->limits;

	if (limits->method == LIMITS_NONE)
		return;
	audit_add_title(screen, STYLE_HEAD, "Limits:");
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
void audit_add_terminal(struct screen *screen, const struct plan *plan)
{
	const struct config *config = plan->config;
	unsigned int allowed = config_terminal_allowed(config);

	if (config->terminal == TERMINAL_FILTERED && !config->terminal_allow)
		return;
	audit_add_title(screen, STYLE_HEAD, "Terminal:");
	text_add(&screen->out, "\n");
	if (config->terminal == TERMINAL_DIRECT) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, STYLE_DANGER, audit_terminal_direct, 2);
		return;
	}
	for (int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
		if (allowed & TERMINAL_BIT(class))
			add_marked_line(screen, &config->terminal_allow_origin,
					audit_terminal_effects[class]);
	if (!allowed)
		add_marked_line(screen, &config->terminal_allow_origin,
				"no titles, no notifications, no bell");
}

// Adds the settings that no other part of the audit shows.
void audit_add_settings(struct screen *screen, const struct plan *plan)
{
	profile_settings settings =
		profile_settings_list(screen->arena, plan->config, SETTING_IN_AUDIT);

	if (!settings.count)
		return;
	audit_add_title(screen, STYLE_HEAD, "Settings:");
	text_add(&screen->out, "\n");
	vec_each(setting, &settings)
		add_marked_line(screen, setting->origin,
				arena_printf(screen->arena, "%s: %s", setting->row->key,
					     audit_value(screen, setting->text)));
}

void audit_add_notes(struct screen *screen, const struct plan *plan)
{
	vec_each(note, &plan->notes) {
		audit_add_title(screen, STYLE_HEAD, note->title);
		text_add(&screen->out, "\n");
		for (size_t i = 0; i < ARRAY_SIZE(note->lines); i++) {
			text_add(&screen->out, "  ");
			screen_add_wrapped(screen, STYLE_PLAIN, note->lines[i], 2);
		}
	}
}

void audit_add_upgrade(struct screen *screen, const struct plan *plan)
{
	if (!plan->state.upgrade.needed)
		return;
	audit_add_title(screen, STYLE_HEAD, "Upgrade:");
	text_add(&screen->out, "\n");
	vec_each(sentence, &plan->state.upgrade.notes) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, STYLE_PLAIN, *sentence, 2);
	}
}

void audit_add_changes(struct screen *screen, const struct plan *plan)
{
	if (!plan->changes.count)
		return;
	audit_add_title(screen, STYLE_HEAD, "Changed since your last approval:");
	text_add(&screen->out, "\n");
	vec_each(change, &plan->changes) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, **change == '+' ? STYLE_REQUESTED : STYLE_DIM,
				   audit_change(screen, *change), 4);
	}
}

void audit_add_warnings(struct screen *screen, const struct plan *plan, bool all)
{
	bool title = false;

	vec_each(warning, &plan->warnings) {
		if (!all && warning->known && warning->rank != WARNING_DANGER)
			continue;
		if (!title)
			audit_add_title(screen, STYLE_WARN, "Warnings:");
		text_add(&screen->out, title ? "  ! " : "\n  ! ");
		title = true;
		screen_add_wrapped(screen,
				   warning->rank == WARNING_DANGER ? STYLE_DANGER : STYLE_PLAIN,
				   warning->text, 4); // quoted by the plan
	}
}
