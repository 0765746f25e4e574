// SPDX-License-Identifier: MIT
// The audit in short: what differs from box to box, for the screen of a question.
//
// Each section is a function that adds items by name. audit_fold() decides how many are shown.
#include "render/audit/short.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/origin.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/command.h"
#include "plan/limits.h"
#include "plan/approved_lines.h"
#include "plan/plan.h"
#include "plan/registries/registries.h"
#include "plan/tables.h"
#include "render/audit/fold.h"
#include "render/audit/guard.h"
#include "render/audit/mounts.h"
#include "render/audit/parts.h"
#include "render/audit/section.h"
#include "render/audit/toolchains.h"
#include "render/mask.h"

enum {
	SCREEN_ROWS = 24,    // of a terminal of unknown height
	ROWS_LEFT = 4,       // for the command line before the audit and what follows the question
	LEAST_LINES = 12,    // on a lower screen
	NARROW_COLUMNS = 60, // a narrower screen breaks the question
	WORD_COLUMNS = 60,   // of an argument
	COMMAND_COLUMNS = 120,
	NAME_COLUMNS = 120, // of a path or another name
	CHANGED_LINES = 5,
	LEFT_OUT_LINES = 4, // that are shown before the rest of other sections
};

typedef void section_function(struct screen *screen, const struct plan *plan,
			      struct audit_section *section);

// Returns the command that starts, as the user asked for it.
static const char *shown_command(struct screen *screen, const struct plan *plan)
{
	const strings *words = &plan->config->arguments;
	struct text out = { .arena = screen->arena };

	text_add(&out, "starts");
	if (plan->config->payload == PAYLOAD_CLAUDE)
		text_add(&out, " claude");
	if (plan->config->payload == PAYLOAD_SHELL && plan->command.count)
		text_printf(&out, " %s",
			    quote_word(screen->arena, plan->command.items[0], WORD_COLUMNS));
	for (size_t i = 0; i < words->count; i++)
		text_printf(&out, " %s",
			    command_word_is_secret(i ? words->items[i - 1] : NULL, words->items[i])
				    ? RENDER_MASK
				    : quote_word(screen->arena, words->items[i], WORD_COLUMNS));
	return screen_cut(screen, text_get(&out), COMMAND_COLUMNS);
}

static void add_head(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	const struct config *config = plan->config;

	audit_add_item(screen->arena, section, STYLE_PLAIN, audit_project(screen, plan));
	audit_add_item(screen->arena, section, STYLE_PLAIN, shown_command(screen, plan));
	if (config->profile_description)
		audit_add_item(screen->arena, section, STYLE_DIM,
			       audit_value(screen, config->profile_description));
}

static void add_network(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	const struct config *config = plan->config;
	const char *meaning = tier_table[config->network].meaning;

	if (config->network_origin.name)
		audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_PLAIN, meaning);
	else
		audit_add_item(screen->arena, section, STYLE_PLAIN, meaning);
}

static void add_ports(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	vec_each(port, &plan->config->host_ports)
		audit_add_marked(screen->arena, section, port->origin.kind, STYLE_PLAIN,
				 arena_printf(screen->arena, "%u of the host", port->number));
	vec_each(port, &plan->config->published_ports)
		audit_add_marked(screen->arena, section, port->origin.kind, STYLE_PLAIN,
				 arena_printf(screen->arena, "%u published to the host",
					      port->number));
}

static void add_variables(struct screen *screen, const struct plan *plan,
			  struct audit_section *section)
{
	// Secrets are never folded. Of the others, requested ones come first.
	for (int secret = 1; secret >= 0; secret--)
		for (int kind = ORIGIN_REQUESTED; kind >= (int)ORIGIN_ALLOWED; kind--)
			vec_each(variable, &plan->variables) {
				if ((int)variable->origin.kind != kind ||
				    (variable->secret != SECRET_NONE) != secret)
					continue;
				audit_add_marked(
					screen->arena, section, variable->origin.kind, STYLE_PLAIN,
					quote_word(screen->arena, variable->name, NAME_COLUMNS));
				if (secret)
					audit_keep_last(section);
			}
}

static void add_packages(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	vec_each(package, &plan->packages) {
		const char *name = quote_word(screen->arena, package->name, NAME_COLUMNS);

		if (package->origin.name)
			name = arena_printf(screen->arena, "%s (%s)", name,
					    quote_display(screen->arena, package->origin.name, 80));
		audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_PLAIN, name);
	}
}

static void add_toolchains(struct screen *screen, const struct plan *plan,
			   struct audit_section *section)
{
	vec_each(row, &plan->toolchains) {
		const struct plan_toolchain *first = plan->toolchains.items;

		while (!str_equal(first->name, row->name))
			first++;
		if (first == row)
			audit_add_marked(screen->arena, section, ORIGIN_ALLOWED, STYLE_PLAIN,
					 row->name);
	}
}

static void add_servers(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	vec_each(server, &plan->servers)
		audit_add_marked(screen->arena, section, ORIGIN_ALLOWED, STYLE_PLAIN,
				 quote_word(screen->arena, server->name, NAME_COLUMNS));
}

static void add_limits(struct screen *screen, const struct plan *plan,
		       struct audit_section *section)
{
	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &plan->limits.values[limit];

		if (row->value && row->origin.name)
			audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_PLAIN,
					 limits_render_text(screen->arena, (enum limit)limit,
							    row->value));
	}
}

// Adds the settings that differ from their defaults, those of git and package managers, and
// requested limits. The network has a section of its own.
static void add_settings(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	const struct config *config = plan->config;
	profile_settings settings = profile_settings_list(screen->arena, config, SETTING_IN_JSON);
	const char *managers = registries_tools(plan, screen->arena);

	if (config->terminal == TERMINAL_DIRECT)
		audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_DANGER,
				 arena_printf(screen->arena, "terminal: %s",
					      audit_terminal_direct));
	vec_each(setting, &settings) {
		if (setting->value != &config->network && setting->value != &config->terminal)
			audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_PLAIN,
					 arena_printf(screen->arena, "%s: %s", setting->row->key,
						      audit_value(screen, setting->text)));
	}
	for (int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
		if (config_terminal_allowed(config) & ~TERMINAL_ALLOW_DEFAULT & TERMINAL_BIT(class))
			audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_PLAIN,
					 audit_terminal_effects[class]);
	if (*managers || plan->git_settings.count)
		audit_add_marked(
			screen->arena, section, ORIGIN_ALLOWED, STYLE_PLAIN,
			arena_printf(screen->arena, "your settings of %s%s%s, without credentials",
				     plan->git_settings.count ? "git" : "",
				     plan->git_settings.count && *managers ? ", " : "", managers));
	add_limits(screen, plan, section);
}

static void add_upgrade(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	if (plan->state.upgrade.needed)
		vec_each(sentence, &plan->state.upgrade.notes)
			audit_add_item(screen->arena, section, STYLE_PLAIN, *sentence);
}

// The order of changes: what the user must not miss first.
enum change_rank { CHANGE_SECRET, CHANGE_GRANT, CHANGE_ADDED, CHANGE_GONE, CHANGE_RANK_COUNT };

static bool is_secret_change(const char *line)
{
	return (str_starts(line, "env ") || str_starts(line, "mount ")) &&
	       str_ends(line, APPROVAL_SECRET);
}

static enum change_rank rank_of(const struct plan *plan, const char *change)
{
	const char *line = str_after(change, "+ ");

	if (!line)
		return CHANGE_GONE;
	if (is_secret_change(line))
		return CHANGE_SECRET;
	vec_each(grant, &plan->new_grants) {
		if (str_equal(line, *grant))
			return CHANGE_GRANT;
	}
	return CHANGE_ADDED;
}

// The question may be about nothing else, so the changes get lines before other sections.
static void add_changes(struct screen *screen, const struct plan *plan,
			struct audit_section *section)
{
	section->first_lines = CHANGED_LINES;
	for (int rank = 0; rank < CHANGE_RANK_COUNT; rank++)
		vec_each(change, &plan->changes) {
			if ((int)rank_of(plan, *change) == rank)
				audit_add_item(screen->arena, section,
					       rank == CHANGE_GONE ? STYLE_DIM : STYLE_REQUESTED,
					       audit_change(screen, *change));
		}
}

static void add_warnings(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	vec_each(warning, &plan->warnings) {
		audit_add_item(screen->arena, section,
			       warning->rank == WARNING_DANGER ? STYLE_DANGER : STYLE_PLAIN,
			       arena_printf(screen->arena, "! %s", warning->text));
		if (warning->rank == WARNING_SECRET || warning->rank == WARNING_REQUEST)
			audit_keep_last(section);
	}
}

static void add_left_out(struct screen *screen, const struct plan *plan,
			 struct audit_section *section)
{
	static const struct audit_noun nouns[LEFT_OUT_KIND_COUNT] = {
		[LEFT_OUT_SERVER] = { "MCP server", "MCP servers" },
		[LEFT_OUT_HOOK] = { "hook", "hooks" },
		[LEFT_OUT_STATUS_LINE] = { "status line", "status lines" },
	};

	// The rows are sorted. What the user configured for Claude is expected to work.
	if (plan->left_out.count && plan->left_out.items[0].kind < LEFT_OUT_OTHER)
		section->first_lines = LEFT_OUT_LINES;
	vec_each(row, &plan->left_out)
		vec_push(screen->arena, &section->items,
			 (struct audit_item){ .text = render_left_out(screen->arena, row, false),
					      .noun = nouns[row->kind].one ? &nouns[row->kind]
									   : NULL });
}

static const struct {
	const char *label;
	enum style style;
	bool list;
	bool whole;
	section_function *add;
} section_table[] = {
	{ "claudebox:", STYLE_HEAD, false, false, add_head },
	{ "Network:", STYLE_HEAD, false, false, add_network },
	{ "Ports:", STYLE_HEAD, false, false, add_ports },
	{ "Can change:", STYLE_HEAD, false, false, audit_name_writable },
	{ "Protected:", STYLE_HEAD, false, false, audit_name_guard },
	{ "Variables:", STYLE_HEAD, false, false, add_variables },
	{ "Mounts:", STYLE_HEAD, false, false, audit_name_mounts },
	{ "Packages:", STYLE_HEAD, false, false, add_packages },
	{ "Toolchains:", STYLE_HEAD, false, false, add_toolchains },
	{ "MCP servers:", STYLE_HEAD, false, false, add_servers },
	{ "Settings:", STYLE_HEAD, false, false, add_settings },
	{ "Upgrade:", STYLE_HEAD, true, false, add_upgrade },
	{ "Changed:", STYLE_HEAD, false, true, add_changes },
	{ "Warnings:", STYLE_WARN, true, false, add_warnings },
	{ "Not in the box:", STYLE_HEAD, true, true, add_left_out },
};

// Returns how many lines the audit may have: the question follows on the same screen.
static size_t lines_for(struct reader reader)
{
	size_t rows = reader.rows ? reader.rows : SCREEN_ROWS;
	size_t lines = rows > ROWS_LEFT + LEAST_LINES ? rows - ROWS_LEFT : LEAST_LINES;

	return lines - (reader.columns && reader.columns < NARROW_COLUMNS ? 2 : 1);
}

static void add_sections(struct screen *screen, const struct plan *plan, const char *details,
			 audit_sections *sections)
{
	struct audit_section rest = {
		.label = "In every box:", .label_style = STYLE_HEAD, .details = details
	};

	for (size_t i = 0; i < ARRAY_SIZE(section_table); i++) {
		struct audit_section section = { .label = section_table[i].label,
						 .label_style = section_table[i].style,
						 .list = section_table[i].list,
						 .whole = section_table[i].whole,
						 .details = details };

		section_table[i].add(screen, plan, &section);
		vec_push(screen->arena, sections, section);
	}
	vec_each(note, &plan->notes) {
		struct audit_section section = { .label = note->title,
						 .label_style = STYLE_HEAD,
						 .prose = true,
						 .details = details };

		for (size_t i = 0; i < ARRAY_SIZE(note->lines); i++)
			audit_add_item(screen->arena, &section, STYLE_PLAIN, note->lines[i]);
		vec_push(screen->arena, sections, section);
	}
	audit_count_rest(screen, plan, &rest);
	vec_push(screen->arena, sections, rest);
}

const char *render_audit_short(const struct plan *plan, struct arena *arena, struct reader reader,
			       bool question)
{
	struct screen screen = screen_for(arena, reader);
	audit_sections sections = { 0 };

	screen.home = plan->home;
	add_sections(&screen, plan, question ? AUDIT_DETAILS : "--audit=full", &sections);
	audit_fold(&screen, &sections, lines_for(reader), ROWS_LEFT - 1);
	return text_get(&screen.out);
}
