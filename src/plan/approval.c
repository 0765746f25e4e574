// SPDX-License-Identifier: MIT
// Renders the plan as a list of short lines and compares it with the approved list.
#include "plan/approval.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/options/table.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"

#include <string.h>

// In the file, lines that start with this are warnings. They are no part of the box.
#define WARNING "warning "

static bool has_line(const strings *lines, const char *wanted)
{
	vec_each(line, lines) {
		if (str_equal(*line, wanted))
			return true;
	}
	return false;
}

// Adds a line once: options may repeat.
static void add(strings *lines, struct arena *arena, const char *line)
{
	if (!has_line(lines, line))
		vec_push(arena, lines, line);
}

static void add_mount(strings *lines, struct arena *arena, const struct plan_mount *mount)
{
	const char *path = quote_word(arena, mount->path, 0);

	// A toolchain has a line of its own, which does not change when a version is added.
	if (!plan_mount_reason(mount) || mount->kind == MOUNT_LINK || mount->kind == MOUNT_DATA ||
	    mount->kind == MOUNT_PROGRAM || mount->toolchain)
		return;
	if (mount->source && !str_equal(mount->source, mount->path))
		path = arena_printf(arena, "%s <- %s", path, quote_word(arena, mount->source, 0));
	add(lines, arena,
	    arena_printf(arena, "mount %s %s%s", mount_kind_names[mount->kind], path,
			 mount->secret ? " SECRET" : ""));
}

// Adds "nested", or "terminal direct".
static void add_settings(strings *lines, struct arena *arena, const struct config *config)
{
	profile_settings settings = profile_settings_list(arena, config, SETTING_IN_APPROVAL);

	vec_each(setting, &settings)
		add(lines, arena,
		    setting->row->kind == PROFILE_BOOLEAN
			    ? setting->row->key
			    : arena_printf(arena, "%s %s", setting->row->key,
					   quote_word(arena, setting->text, 0)));
}

// Adds the git settings that decide which servers git asks and what a commit stores. Others, such
// as aliases, change too often to ask about each.
static void add_git_settings(strings *lines, struct arena *arena, const struct plan *plan)
{
	vec_each(setting, &plan->git_settings) {
		const char *value = setting->value ? setting->value : "true";

		if (str_starts(setting->name, "url.") || str_starts(setting->name, "filter."))
			add(lines, arena,
			    arena_printf(arena, "git %s %s", quote_word(arena, setting->name, 0),
					 quote_word(arena, value, 0)));
	}
}

strings approval_lines(struct arena *arena, const struct plan *plan)
{
	const struct config *config = plan->config;
	strings lines = { 0 };

	add(&lines, arena, arena_printf(arena, "network %s", network_tier_names[config->network]));
	if (config->profile_directory)
		add(&lines, arena,
		    arena_printf(arena, "profile %s by directory %s", config->profile,
				 quote_word(arena, config->profile_directory, 0)));
	add_settings(&lines, arena, config);
	vec_each(port, &config->host_ports)
		add(&lines, arena, arena_printf(arena, "host port %u", port->number));
	vec_each(port, &config->published_ports)
		add(&lines, arena, arena_printf(arena, "published port %u", port->number));
	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &plan->limits.values[limit];

		if (row->origin.name) // the default depends on where claudebox was started
			add(&lines, arena,
			    arena_printf(arena, "limit %s %s", limit_table[limit].name,
					 limit_render(arena, (enum limit)limit, row->value)));
	}
	vec_each(variable, &plan->variables) {
		if (variable->origin.kind != ORIGIN_GENERATED && !variable->toolchain)
			add(&lines, arena,
			    arena_printf(arena, "env %s", quote_word(arena, variable->name, 0)));
	}
	if (plan->state.login)
		add(&lines, arena,
		    arena_printf(arena, "login %s", quote_word(arena, plan->state.login, 0)));
	vec_each(package, &plan->packages)
		add(&lines, arena,
		    arena_printf(arena, "package %s", quote_word(arena, package->name, 0)));
	vec_each(toolchain, &plan->toolchains)
		add(&lines, arena,
		    arena_printf(arena, "toolchain %s %s", toolchain->name,
				 quote_word(arena, toolchain->root, 0)));
	vec_each(server, &plan->servers)
		add(&lines, arena,
		    arena_printf(arena, "mcp %s%s", quote_word(arena, server->name, 0),
				 server->local ? " (this project)" : ""));
	vec_each(mount, &config->mounts) {
		if (mount->on_path)
			add(&lines, arena,
			    arena_printf(arena, "path %s", quote_word(arena, mount->source, 0)));
	}
	vec_each(path, &plan->guard.tracked)
		add(&lines, arena,
		    arena_printf(arena, "writable %s (git tracks it)",
				 quote_word(arena, *path, 0)));
	vec_each(path, &plan->guard.unprotected)
		add(&lines, arena,
		    arena_printf(arena, "unprotected %s%s", quote_word(arena, *path, 0),
				 unprotect_scope(*path, plan->project)));
	add_git_settings(&lines, arena, plan);
	vec_each(mount, &plan->mounts)
		add_mount(&lines, arena, mount);
	return lines;
}

const char *approval_render(struct arena *arena, const struct plan *plan)
{
	strings lines = approval_lines(arena, plan);
	struct text out = { .arena = arena };

	vec_each(line, &lines)
		text_printf(&out, "%s\n", *line);
	vec_each(warning, &plan->warnings)
		text_printf(&out, WARNING "%s\n", warning->text);
	return text_get(&out);
}

static bool is_variable_grant(const struct plan *plan, const char *name)
{
	vec_each(variable, &plan->variables) {
		if (str_equal(variable->name, name))
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
			add_mount(&own, arena, mount);
		if (own.count && str_equal(own.items[0], line))
			return true;
	}
	return false;
}

// Returns whether the approved box had a smaller network. Wider tiers come first.
static bool is_wider(const struct plan *plan, const strings *approved, struct arena *arena)
{
	for (int tier = NETWORK_TIER_COUNT - 1; tier > (int)plan->config->network; tier--)
		if (has_line(approved, arena_printf(arena, "network %s", network_tier_names[tier])))
			return true;
	return false;
}

// Lines that give the box nothing that a program of an earlier session could misuse. The mounts of
// "path" have lines of their own. The directory of the login is in every box. An earlier session
// could add places to git's index.
static const char *const no_grants[] = {
	"limit ",           "package ", "toolchain ", "toolchains ", "path ",
	"package_settings", "home ",    "project ",   "confirm ",    "git ",
	"login ",           "mcp ",     "profile ",   "writable ",
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
	for (size_t i = 0; i < ARRAY_SIZE(grants_by_line); i++)
		if (str_starts(line, grants_by_line[i]))
			return true;
	return false;
}

static void add_changes(struct plan *plan, struct arena *arena, const strings *approved)
{
	strings now = approval_lines(arena, plan);

	vec_each(line, &now) {
		if (has_line(approved, *line))
			continue;
		vec_push(arena, &plan->changes, arena_printf(arena, "+ %s", *line));
		plan->smaller &= str_starts(*line, "network ") && !is_wider(plan, approved, arena);
		if (is_grant(plan, arena, approved, *line))
			vec_push(arena, &plan->new_grants, *line);
	}
	vec_each(line, approved) {
		if (has_line(&now, *line) || str_starts(*line, WARNING))
			continue;
		vec_push(arena, &plan->changes,
			 arena_printf(arena, "- %s", quote_display(arena, *line, 0)));
		plan->smaller &= is_loss(plan, arena, approved, *line);
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
		warning->known =
			has_line(&approved, arena_printf(arena, WARNING "%s", warning->text));
}
