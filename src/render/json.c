// SPDX-License-Identifier: MIT
// The plan as JSON, for scripts. Secrets are masked.
#include "render/json.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/options/table.h"
#include "config/origin.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/command.h"
#include "plan/facts.h"
#include "plan/git/settings.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/mask.h"
#include "render/network.h"
#include "seccomp/programs.h"

#include <string.h>

static const char *const origin_names[ORIGIN_KIND_COUNT] = {
	[ORIGIN_GENERATED] = "generated",
	[ORIGIN_ALLOWED] = "allowlist",
	[ORIGIN_REQUESTED] = "requested",
};

// Returns a string, or null. JSON is UTF-8; a path need not be, and is then quoted.
static json_t *string_of(struct arena *arena, const char *value)
{
	json_t *string = value ? json_string(value) : json_null();

	return string ? string : json_string(quote_display(arena, value, 0));
}

static json_t *variable_of(struct arena *arena, const struct plan_variable *variable)
{
	const char *hidden = render_hidden(arena, variable);
	const char *value = hidden ? hidden : variable->value;

	return json_pack("{s:s, s:o, s:s, s:s, s:b}", "name", variable->name, "value",
			 string_of(arena, value), "origin", origin_names[variable->origin.kind],
			 "why", plan_variable_reason(variable), "secret",
			 variable->secret != SECRET_NONE);
}

static json_t *mount_of(struct arena *arena, const struct plan_mount *mount)
{
	bool generated = mount->kind == MOUNT_DATA || mount->kind == MOUNT_PROGRAM;
	json_t *source = generated ? json_null() : string_of(arena, mount->source);
	json_t *all = json_pack("{s:s, s:o, s:o, s:s, s:o, s:b}", "kind",
				mount_kind_names[mount->kind], "host", source, "path",
				string_of(arena, mount->path), "origin",
				origin_names[mount->origin.kind], "why",
				string_of(arena, plan_mount_reason(mount)), "secret",
				mount->secret != NULL);

	if (mount->copy_of)
		json_object_set_new(all, "copy_of", string_of(arena, mount->copy_of));
	if (mount->toolchain)
		json_object_set_new(all, "toolchain", json_string(mount->toolchain));
	if (mount->staged)
		json_object_set_new(all, "staged", json_string(mount->staged));
	if (mount->created)
		json_object_set_new(all, "created", json_true());
	return all;
}

static json_t *toolchains_of(struct arena *arena, const struct plan *plan)
{
	json_t *list = json_array();

	vec_each(row, &plan->toolchains)
		json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", row->name, "root",
						      string_of(arena, row->root), "parts",
						      string_of(arena, row->parts)));
	return list;
}

static json_t *strings_of(struct arena *arena, const strings *list)
{
	json_t *array = json_array();

	vec_each(item, list)
		json_array_append_new(array, string_of(arena, *item));
	return array;
}

json_t *json_left_out(struct arena *arena, const struct plan *plan)
{
	json_t *list = json_array();

	vec_each(row, &plan->left_out) {
		json_t *entry = json_pack("{s:o, s:o, s:o}", "what", string_of(arena, row->what),
					  "why", string_of(arena, row->why), "option",
					  string_of(arena, row->option));

		if (row->names.count)
			json_object_set_new(entry, "names", strings_of(arena, &row->names));
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *servers_of(struct arena *arena, const struct plan *plan)
{
	json_t *list = json_array();

	vec_each(row, &plan->servers)
		json_array_append_new(list, json_pack("{s:o, s:s, s:s}", "name",
						      string_of(arena, row->name), "scope",
						      row->local ? "local" : "user", "by",
						      row->by_address ? "address" : "program"));
	vec_each(name, &plan->box_servers)
		json_array_append_new(list, json_pack("{s:o, s:s}", "name", string_of(arena, *name),
						      "scope", "box"));
	return list;
}

static json_t *package_of(struct arena *arena, const struct package_facts *package)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "name", package->name, "path",
			 string_of(arena, package->path), "bin", string_of(arena, package->bin),
			 "origin", string_of(arena, package->origin.name));
}

static json_t *ranges_of(struct arena *arena, const plan_ranges *ranges)
{
	json_t *list = json_array();

	vec_each(row, ranges)
		json_array_append_new(list, json_pack("{s:s, s:s}", "range",
						      address_render(arena, &row->range), "why",
						      row->why));
	return list;
}

static json_t *ports_of(const ports *numbers)
{
	json_t *list = json_array();

	vec_each(port, numbers)
		json_array_append_new(list, json_integer(port->number));
	return list;
}

static json_t *inet_of(struct arena *arena, const struct plan *plan)
{
	const struct plan_network *inet = &plan->inet;
	json_t *words = json_array();
	strings pasta = render_pasta(plan, arena, NETWORK_NAMESPACE_SHOWN);

	vec_each(word, &pasta)
		json_array_append_new(words, json_string(*word));
	return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:s}", "ipv4", inet->ipv4, "ipv6",
			 inet->ipv6, "refused", ranges_of(arena, &inet->refused), "host",
			 ranges_of(arena, &inet->host), "host_ports",
			 ports_of(&plan->config->host_ports), "published_ports",
			 ports_of(&plan->config->published_ports), "pasta", words, "rules",
			 render_nft(plan, arena));
}

static json_t *limits_of(const struct plan_limits *limits)
{
	static const char *const ways[LIMITS_METHOD_COUNT] = {
		[LIMITS_CGROUP] = "cgroup",
		[LIMITS_SYSTEMD] = "systemd",
	};
	json_t *all = json_pack("{s:s?}", "by", ways[limits->method]);

	for (int limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct config_limit *row = &limits->values[limit];

		if (row->value)
			json_object_set_new(all, limit_table[limit].name,
					    json_pack("{s:I, s:s?}", "value",
						      (json_int_t)row->value, "origin",
						      row->origin.name));
	}
	return all;
}

// Returns the settings that differ from their defaults, by key.
static json_t *settings_of(struct arena *arena, const struct config *config)
{
	profile_settings settings = profile_settings_list(arena, config, SETTING_IN_JSON);
	json_t *all = json_object();

	vec_each(setting, &settings)
		json_object_set_new(all, setting->row->key,
				    json_pack("{s:o, s:s?}", "value", profile_setting_json(setting),
					      "origin", setting->origin->name));
	return all;
}

// Returns the home directory: how it is kept, where, and its limit.
static json_t *home_of(struct arena *arena, const struct plan *plan)
{
	unsigned long long limit = plan->config->limits[LIMIT_HOME].value;

	return json_pack("{s:s, s:o, s:o}", "kept", home_mode_names[plan->config->home], "host",
			 string_of(arena, plan->state.home), "limit",
			 limit ? json_integer((json_int_t)limit) : json_null());
}

// Returns the report on the settings of package managers: names of settings, never values.
static json_t *registries_of(struct arena *arena, const struct plan *plan)
{
	json_t *list = json_array();

	vec_each(row, &plan->registries)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tool",
					row->tool, "file", string_of(arena, row->source), "problem",
					string_of(arena, row->problem), "credentials",
					strings_of(arena, &row->credentials), "without_login",
					strings_of(arena, &row->without_login), "replaced",
					strings_of(arena, &row->replaced), "left_out",
					strings_of(arena, &row->left_out), "unused",
					strings_of(arena, &row->unused)));
	return list;
}

// Returns the names of the user's git settings in the box, each once.
static json_t *git_settings_of(struct arena *arena, const struct plan *plan)
{
	strings names = { 0 };

	vec_each(setting, &plan->git_settings)
		git_add_once(arena, &names, setting->name, plan->git_settings.count);
	return strings_of(arena, &names);
}

// Returns the protected places of the project, and those that stay writable.
static json_t *undo_of(struct arena *arena, const struct plan *plan)
{
	const struct plan_undo *undo = &plan->undo;

	return json_pack("{s:b, s:o, s:b}", "active", undo->active, "snapshots",
			 string_of(arena, undo->active ? undo->path : NULL), "ignored",
			 undo->ignored);
}

static json_t *guard_of(struct arena *arena, const struct plan *plan)
{
	const struct plan_guard *guard = &plan->guard;
	json_t *places = json_array();

	vec_each(place, &guard->places) {
		const struct guard_row *row = place->row; // NULL: a directory around a place

		json_array_append_new(
			places,
			json_pack("{s:o, s:s, s:s?, s:s?, s:s?}", "path",
				  string_of(arena, place->path), "mount",
				  guard_mount_names[place->mount], "why", row ? row->why : NULL,
				  "host", row ? guard_host_names[row->host] : NULL, "decision",
				  row ? guard_decision_names[row->decision] : NULL));
	}
	return json_pack("{s:b, s:o, s:o, s:o}", "active", guard->active, "places", places,
			 "tracked", strings_of(arena, &guard->tracked), "unprotected",
			 strings_of(arena, &guard->unprotected));
}

const char *render_json(const struct plan *plan, struct arena *arena)
{
	const struct config *config = plan->config;
	json_t *variables = json_array();
	json_t *packages = json_array();
	json_t *mounts = json_array();
	json_t *command = json_array();
	json_t *warnings = json_array();
	json_t *changes = json_array();
	JSON_OWNED *all = NULL;

	vec_each(variable, &plan->variables)
		json_array_append_new(variables, variable_of(arena, variable));
	vec_each(package, &plan->packages)
		json_array_append_new(packages, package_of(arena, package));
	vec_each(mount, &plan->mounts)
		json_array_append_new(mounts, mount_of(arena, mount));
	for (size_t i = 0; i < plan->command.count; i++) {
		const char *word = plan->command.items[i];
		bool secret = command_word_is_secret(i ? plan->command.items[i - 1] : NULL, word);

		json_array_append_new(command, string_of(arena, secret ? RENDER_MASK : word));
	}
	vec_each(warning, &plan->warnings)
		json_array_append_new(warnings, string_of(arena, warning->text));
	vec_each(change, &plan->changes)
		json_array_append_new(changes, string_of(arena, *change));
	all = json_pack(
		"{s:i, s:o, s:s?, s:o, s:o, s:s, s:o, s:s, s:b, s:s, s:o, s:o, s:i, s:i, s:o, s:o, "
		"s:o, s:o, s:o, s:o}",
		"version", 1, "project", string_of(arena, plan->project), "profile",
		config->profile, "profile_description",
		string_of(arena, config->profile_description), "instance",
		string_of(arena, plan->state.instance), "network",
		network_tier_names[config->network], "inet",
		tier_table[config->network].attached ? inet_of(arena, plan) : json_null(), "filter",
		seccomp_programs[plan->seccomp].name, "user_namespaces", (int)config->nested,
		"terminal", terminal_mode_names[config->terminal], "settings",
		settings_of(arena, config), "limits",
		plan->limits.method == LIMITS_NONE ? json_null() : limits_of(&plan->limits), "uid",
		(int)plan->uid, "gid", (int)plan->gid, "environment", variables, "packages",
		packages, "mounts", mounts, "command", command, "warnings", warnings, "changes",
		changes);
	if (config->profile_directory)
		json_object_set_new(all, "profile_directory",
				    string_of(arena, config->profile_directory));
	json_object_set_new(all, "toolchains", toolchains_of(arena, plan));
	json_object_set_new(all, "left_out", json_left_out(arena, plan));
	json_object_set_new(all, "git_settings", git_settings_of(arena, plan));
	json_object_set_new(all, "login", string_of(arena, plan->state.login));
	json_object_set_new(all, "mcp_servers", servers_of(arena, plan));
	json_object_set_new(all, "guard", guard_of(arena, plan));
	json_object_set_new(all, "undo", undo_of(arena, plan));
	json_object_set_new(all, "home", home_of(arena, plan));
	if (plan->state.kept_as)
		json_object_set_new(all, "replaced_instance",
				    string_of(arena, plan->state.kept_as));
	if (plan->registries.count)
		json_object_set_new(all, "package_settings", registries_of(arena, plan));
	if (plan->state.upgrade.needed)
		json_object_set_new(all, "upgrade", strings_of(arena, &plan->state.upgrade.notes));
	return json_write(arena, all, JSON_INDENT(2) | JSON_ENSURE_ASCII);
}
