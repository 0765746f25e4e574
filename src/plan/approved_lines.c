// SPDX-License-Identifier: MIT
// The lines of an approval record.
#include "plan/approved_lines.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/names.h"
#include "config/options/table.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/connections/endpoint.h"
#include "plan/connections/tables.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"

#include <string.h>

enum { DIGEST_DIGITS = 16 };

bool approval_has_line(const strings *lines, const char *wanted)
{
	vec_each(line, lines) {
		if (str_equal(*line, wanted))
			return true;
	}
	return false;
}

const char *approval_shown(struct arena *arena, const char *line)
{
	return arena_strndup(arena, line, strcspn(line, "\t"));
}

const char *approval_digest(struct arena *arena, const char *content)
{
	return digest_hex(arena, content, DIGEST_DIGITS);
}

// Adds a line once: options may repeat.
static void add(strings *lines, struct arena *arena, const char *line)
{
	if (!approval_has_line(lines, line))
		vec_push(arena, lines, line);
}

// Adds a line with the digest of a content that is not shown. NULL: there is none.
static void add_digested(strings *lines, struct arena *arena, const char *line, const char *digest)
{
	add(lines, arena, digest ? arena_printf(arena, "%s\t%s", line, digest) : line);
}

// Returns the digest of the hosts in the value of a variable, NULL: it is no address. Other values,
// such as that of TERM, differ between terminals.
static const char *digest_address(struct arena *arena, const struct plan_variable *variable)
{
	const char *hosts = endpoint_hosts(arena, variable->value, variable->secret);
	const char *at = strrchr(variable->value, '@');

	if (!hosts &&
	    variable_row_find(proxy_variables, proxy_variable_count, variable->name)) // host:port
		hosts = at ? at + 1 : variable->value;
	return hosts ? approval_digest(arena, hosts) : NULL;
}

static void add_variables(strings *lines, struct arena *arena, const struct plan *plan)
{
	vec_each(variable, &plan->variables) {
		if (variable->origin.kind != ORIGIN_GENERATED && !variable->toolchain)
			add_digested(lines, arena,
				     arena_printf(arena, "env %s%s",
						  quote_word(arena, variable->name, 0),
						  variable->secret ? APPROVAL_SECRET : ""),
				     digest_address(arena, variable));
	}
}

// Adds the user's MCP servers, and the parts of the user's settings.
static void add_claude(strings *lines, struct arena *arena, const struct plan *plan)
{
	vec_each(server, &plan->servers)
		add_digested(lines, arena,
			     arena_printf(arena, "mcp %s%s", quote_word(arena, server->name, 0),
					  server->local ? " (this project)" : ""),
			     server->digest);
	vec_each(part, &plan->settings)
		add_digested(lines, arena, part->line, part->digest);
}

void approval_add_mount(strings *lines, struct arena *arena, const struct plan_mount *mount)
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
			 mount->secret ? APPROVAL_SECRET : ""));
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
	add_variables(&lines, arena, plan);
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
	add_claude(&lines, arena, plan);
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
		approval_add_mount(&lines, arena, mount);
	return lines;
}
