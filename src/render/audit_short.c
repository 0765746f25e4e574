// SPDX-License-Identifier: MIT
// The audit in short: what differs from box to box, for the screen of a question.
//
// Each section is a function that adds items by name. audit_fold() decides how many are shown.
#include "render/audit_short.h"

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
#include "plan/secrets/detect.h"
#include "plan/tables.h"
#include "render/audit_fold.h"
#include "render/audit_parts.h"
#include "render/audit_toolchains.h"

enum {
	SCREEN_ROWS = 24,    // of a terminal of unknown height
	ROWS_LEFT = 4,       // for the command line before the audit and what follows the question
	LEAST_LINES = 12,    // on a lower screen
	NARROW_COLUMNS = 60, // a narrower screen breaks the question
	WORD_COLUMNS = 60,   // of an argument
	COMMAND_COLUMNS = 120,
	NAME_COLUMNS = 120, // of a path or another name
};

typedef void section_function(struct screen *screen, const struct plan *plan,
			      struct audit_section *section);

static void add_item(struct screen *screen, struct audit_section *section, enum style style,
		     const char *text)
{
	vec_push(screen->arena, &section->items,
		 (struct audit_item){ .style = style, .text = text });
}

static void add_marked(struct screen *screen, struct audit_section *section, enum origin_kind kind,
		       enum style style, const char *text)
{
	vec_push(screen->arena, &section->items,
		 (struct audit_item){ .mark = origin_marks[kind],
				      .mark_style = origin_styles[kind],
				      .style = style,
				      .text = text });
}

// Returns the command that starts, as the user asked for it.
static const char *shown_command(struct screen *screen, const struct plan *plan)
{
	struct text out = { .arena = screen->arena };

	text_add(&out, "starts");
	if (plan->config->payload == PAYLOAD_CLAUDE)
		text_add(&out, " claude");
	if (plan->config->payload == PAYLOAD_SHELL && plan->command.count)
		text_printf(&out, " %s",
			    quote_word(screen->arena, plan->command.items[0], WORD_COLUMNS));
	vec_each(word, &plan->config->arguments)
		text_printf(&out, " %s",
			    secret_text(NULL, *word)
				    ? "********"
				    : quote_word(screen->arena, *word, WORD_COLUMNS));
	return screen_cut(screen, text_get(&out), COMMAND_COLUMNS);
}

static void add_head(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	const struct config *config = plan->config;
	const char *project = audit_path(screen, plan->project);

	if (config->profile)
		project = arena_printf(screen->arena, "%s (profile %s)", project, config->profile);
	add_item(screen, section, STYLE_PLAIN, project);
	add_item(screen, section, STYLE_PLAIN, shown_command(screen, plan));
	if (config->profile_description)
		add_item(screen, section, STYLE_DIM,
			 audit_value(screen, config->profile_description));
}

static void add_network(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	const struct config *config = plan->config;
	const char *meaning = tier_table[config->network].meaning;

	if (config->network_origin.name)
		add_marked(screen, section, ORIGIN_REQUESTED, STYLE_PLAIN, meaning);
	else
		add_item(screen, section, STYLE_PLAIN, meaning);
}

static void add_ports(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	vec_each(port, &plan->config->host_ports)
		add_marked(screen, section, port->origin.kind, STYLE_PLAIN,
			   arena_printf(screen->arena, "%u of the host", port->number));
	vec_each(port, &plan->config->published_ports)
		add_marked(screen, section, port->origin.kind, STYLE_PLAIN,
			   arena_printf(screen->arena, "%u published to the host", port->number));
}

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
	add_marked(screen, section, mount->origin.kind, mount->secret ? STYLE_DANGER : STYLE_PLAIN,
		   text);
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

// Adds what the agent can change. A directory of claudebox is named by its purpose.
static void add_writable(struct screen *screen, const struct plan *plan,
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
		add_marked(screen, section, ORIGIN_GENERATED, STYLE_PLAIN,
			   "an empty home in memory");
}

static void add_variables(struct screen *screen, const struct plan *plan,
			  struct audit_section *section)
{
	for (int kind = ORIGIN_ALLOWED; kind <= ORIGIN_REQUESTED; kind++)
		vec_each(variable, &plan->variables) {
			if ((int)variable->origin.kind == kind)
				add_marked(screen, section, variable->origin.kind, STYLE_PLAIN,
					   quote_word(screen->arena, variable->name, NAME_COLUMNS));
		}
}

// Returns whether a mount that nobody requested has files of the user: these differ from box to
// box.
static bool is_personal(const struct plan *plan, const struct plan_mount *mount)
{
	const char *why = plan_mount_reason(mount);

	return why && !str_equal(why, PLAN_WHY_CLAUDE) && mount->kind == MOUNT_READ_ONLY &&
	       !mount->toolchain && !is_requested(mount) &&
	       path_within(mount->source, plan->home) &&
	       !path_within(mount->source, plan->state.root);
}

// Returns whether an earlier mount has the same purpose.
static bool has_earlier(const struct plan *plan, const struct plan_mount *mount)
{
	for (const struct plan_mount *other = plan->mounts.items; other < mount; other++)
		if (is_personal(plan, other) &&
		    str_equal(plan_mount_reason(other), plan_mount_reason(mount)))
			return true;
	return false;
}

static void add_mounts(struct screen *screen, const struct plan *plan,
		       struct audit_section *section)
{
	vec_each(mount, &plan->mounts) {
		if (plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
		    is_requested(mount))
			add_mount(screen, section, mount, named_mount(screen, mount));
	}
	vec_each(mount, &plan->mounts) {
		if (is_personal(plan, mount) && !has_earlier(plan, mount))
			add_marked(screen, section, ORIGIN_GENERATED, STYLE_PLAIN,
				   plan_mount_reason(mount));
	}
}

static void add_packages(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	vec_each(package, &plan->packages)
		add_marked(screen, section, ORIGIN_REQUESTED, STYLE_PLAIN,
			   quote_word(screen->arena, package->name, NAME_COLUMNS));
}

static void add_toolchains(struct screen *screen, const struct plan *plan,
			   struct audit_section *section)
{
	vec_each(row, &plan->toolchains) {
		const struct plan_toolchain *first = plan->toolchains.items;

		while (!str_equal(first->name, row->name))
			first++;
		if (first == row)
			add_marked(screen, section, ORIGIN_ALLOWED, STYLE_PLAIN, row->name);
	}
}

// Adds the settings that differ from their defaults, and requested limits. The network has a
// section of its own.
static void add_settings(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	const struct config *config = plan->config;
	profile_settings settings = profile_settings_list(screen->arena, config, SETTING_IN_JSON);

	if (config->terminal == TERMINAL_DIRECT)
		add_marked(screen, section, ORIGIN_REQUESTED, STYLE_DANGER,
			   arena_printf(screen->arena, "terminal: %s", audit_terminal_direct));
	vec_each(setting, &settings) {
		if (setting->value != &config->network && setting->value != &config->terminal)
			add_marked(screen, section, ORIGIN_REQUESTED, STYLE_PLAIN,
				   arena_printf(screen->arena, "%s: %s", setting->row->key,
						audit_value(screen, setting->text)));
	}
	for (int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
		if (config_terminal_allowed(config) & ~TERMINAL_ALLOW_DEFAULT & TERMINAL_BIT(class))
			add_marked(screen, section, ORIGIN_REQUESTED, STYLE_PLAIN,
				   audit_terminal_effects[class]);
	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &plan->limits.values[limit];

		if (row->value && row->origin.name)
			add_marked(screen, section, ORIGIN_REQUESTED, STYLE_PLAIN,
				   limits_render_text(screen->arena, (enum limit)limit,
						      row->value));
	}
}

static void add_upgrade(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	if (plan->state.upgrade.needed)
		vec_each(sentence, &plan->state.upgrade.notes)
			add_item(screen, section, STYLE_PLAIN, *sentence);
}

// Returns whether a change gives the box something that earlier sessions did not have.
static bool is_grant(const struct plan *plan, const char *change)
{
	vec_each(grant, &plan->new_grants) {
		if (str_equal(str_after(change, "+ "), *grant))
			return true;
	}
	return false;
}

static void add_changes(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	for (int grants = 1; grants >= 0; grants--)
		vec_each(change, &plan->changes) {
			if (is_grant(plan, *change) == grants)
				add_item(screen, section,
					 **change == '+' ? STYLE_REQUESTED : STYLE_DIM, *change);
		}
}

static void add_warnings(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	vec_each(danger, &plan->dangers)
		add_item(screen, section, STYLE_DANGER,
			 arena_printf(screen->arena, "! %s", *danger));
	vec_each(warning, &plan->warnings)
		add_item(screen, section, STYLE_PLAIN,
			 arena_printf(screen->arena, "! %s", *warning));
}

static void add_left_out(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	vec_each(row, &plan->left_out)
		add_item(screen, section, STYLE_PLAIN, render_left_out(screen->arena, row));
	if (plan->nix_daemon_left_out)
		add_item(screen, section, STYLE_PLAIN,
			 arena_printf(screen->arena, "the Nix daemon (%s)",
				      plan->nix_daemon_left_out));
}

// Adds how much claudebox itself makes, which is the same in most boxes, and what the marks mean.
static void add_rest(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	size_t variables = 0;
	size_t mounts = 0;

	vec_each(variable, &plan->variables)
		variables += variable->origin.kind == ORIGIN_GENERATED;
	vec_each(mount, &plan->mounts)
		mounts += plan_mount_reason(mount) && mount->kind != MOUNT_WRITABLE &&
			  !mount->toolchain && !is_requested(mount) && !is_personal(plan, mount);
	add_marked(screen, section, ORIGIN_GENERATED, STYLE_DIM,
		   arena_printf(screen->arena,
				"%zu variables, %zu mounts ([>] from the host, [+] requested)",
				variables, mounts));
}

static const struct {
	const char *label;
	enum style style;
	bool list;
	section_function *add;
} section_table[] = {
	{ "claudebox:", STYLE_HEAD, false, add_head },
	{ "Network:", STYLE_HEAD, false, add_network },
	{ "Ports:", STYLE_HEAD, false, add_ports },
	{ "Can change:", STYLE_HEAD, false, add_writable },
	{ "Variables:", STYLE_HEAD, false, add_variables },
	{ "Mounts:", STYLE_HEAD, false, add_mounts },
	{ "Packages:", STYLE_HEAD, false, add_packages },
	{ "Toolchains:", STYLE_HEAD, false, add_toolchains },
	{ "Settings:", STYLE_HEAD, false, add_settings },
	{ "Upgrade:", STYLE_HEAD, true, add_upgrade },
	{ "Changed:", STYLE_HEAD, true, add_changes },
	{ "Warnings:", STYLE_WARN, true, add_warnings },
	{ "Not in the box:", STYLE_HEAD, true, add_left_out },
};

// Returns how many lines the audit may have: the question follows on the same screen.
static size_t lines_for(struct reader reader)
{
	size_t rows = reader.rows ? reader.rows : SCREEN_ROWS;
	size_t lines = rows > ROWS_LEFT + LEAST_LINES ? rows - ROWS_LEFT : LEAST_LINES;

	return lines - (reader.columns && reader.columns < NARROW_COLUMNS ? 2 : 1);
}

static void add_sections(struct screen *screen, const struct plan *plan, audit_sections *sections)
{
	struct audit_section rest = { .label = "In every box:", .label_style = STYLE_HEAD };

	for (size_t i = 0; i < ARRAY_SIZE(section_table); i++) {
		struct audit_section section = { .label = section_table[i].label,
						 .label_style = section_table[i].style,
						 .list = section_table[i].list };

		section_table[i].add(screen, plan, &section);
		vec_push(screen->arena, sections, section);
	}
	vec_each(note, &plan->notes) {
		struct audit_section section = { .label = note->title,
						 .label_style = STYLE_HEAD,
						 .list = true };

		for (size_t i = 0; i < ARRAY_SIZE(note->lines); i++)
			add_item(screen, &section, STYLE_PLAIN, note->lines[i]);
		vec_push(screen->arena, sections, section);
	}
	add_rest(screen, plan, &rest);
	vec_push(screen->arena, sections, rest);
}

const char *render_audit_short(const struct plan *plan, struct arena *arena, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);
	audit_sections sections = { 0 };

	screen.home = plan->home;
	add_sections(&screen, plan, &sections);
	audit_fold(&screen, &sections, lines_for(reader), ROWS_LEFT - 1);
	return text_get(&screen.out);
}
