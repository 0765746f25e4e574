// SPDX-License-Identifier: MIT
// Merges profiles into the configuration: the command line beats a profile, a profile beats the one it extends.
#include "config/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/locate.h"
#include "config/options.h"
#include "config/profile_check.h"
#include "config/profile_place.h"
#include "config/profile_schema.h"

#include <string.h>

// Ports that a profile asks for; whether they can be had is known only when the tier is.
struct port_claim {
	size_t from; // the profile's layer
	struct profile_place place;
	const char *key;
};

struct merge {
	struct config *config;
	struct arena *arena;
	struct config options; // as the command line left it
	const char *origin;    // "profile NAME"
	size_t layer;          // number of the profile in its chain
	struct profile_place root;
	size_t tier_from; // the layer that chose the tier, and one; 0: none did
	VEC(struct port_claim) claims;
};

static const char *copy(const struct merge *merge, const json_t *value)
{
	return value ? arena_strdup(merge->arena, json_string_value(value)) : NULL;
}

// For those who find out later.
static const struct profile_place *keep(const struct merge *merge, struct profile_place place)
{
	struct profile_place *kept = arena_alloc(merge->arena, sizeof(*kept));
	struct profile_text *profile = arena_alloc(merge->arena, sizeof(*profile));

	*profile = *place.profile;
	place.profile = profile;
	place.error = NULL;
	*kept = place;
	return kept;
}

static bool take_ports(struct merge *merge, const struct profile_place *place,
		       const struct profile_row *row, json_t *list, ports *taken)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);
		struct config_port port = { (unsigned int)json_integer_value(value),
					    merge->origin };
		bool known = false;

		vec_each(other, taken)
			known |= other->number == port.number;
		if (known)
			continue;
		if (taken->count >= row->most)
			return profile_too_many(&inner, row);
		vec_push(merge->arena, taken, port);
	}
	if (json_array_size(list))
		vec_push(merge->arena, &merge->claims,
			 (struct port_claim){
				 .from = merge->layer, .place = *place, .key = row->key });
	return true;
}

static bool take_variable(struct merge *merge, const struct profile_place *place,
			  const struct profile_row *row, const char *name, const json_t *value)
{
	struct config_variable variable = { .name = arena_strdup(merge->arena, name),
					    .value = copy(merge, value),
					    .origin = merge->origin };

	for (size_t i = 0; i < merge->config->variables.count; i++) {
		if (!str_equal(merge->config->variables.items[i].name, name))
			continue;
		if (i >= merge->options.variables.count)
			merge->config->variables.items[i] = variable;
		return true;
	}
	if (merge->config->variables.count >= row->most)
		return profile_too_many(place, row);
	vec_push(merge->arena, &merge->config->variables, variable);
	return true;
}

static bool take_variables(struct merge *merge, const struct profile_place *place,
			   const struct profile_row *row, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
		if (!take_variable(merge, place, row, name, value))
			return false;
	return true;
}

static bool take_names(struct merge *merge, const struct profile_place *place,
		       const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value)
		if (!take_variable(merge, place, row, json_string_value(value), NULL))
			return false;
	return true;
}

// The mount that has this place in the box already, or the number of all.
static size_t find_mount(const struct merge *merge, const struct config_mount *mount)
{
	const char *path = mount->destination ? mount->destination : mount->source;
	const char *place = profile_destination(merge->arena, path);
	size_t i;

	for (i = 0; i < merge->config->mounts.count; i++) {
		const struct config_mount *known = &merge->config->mounts.items[i];

		path = known->destination ? known->destination : known->source;
		if (str_equal(profile_destination(merge->arena, path), place))
			break;
	}
	return i;
}

static bool take_mounts(struct merge *merge, const struct profile_place *place,
			const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		const json_t *mode = json_object_get(value, "mode");
		struct config_mount mount = { .source = copy(merge, json_object_get(value, "host")),
					      .destination = copy(
						      merge, json_object_get(value, "sandbox")),
					      .writable = str_equal(json_string_value(mode), "rw"),
					      .origin = merge->origin,
					      .place = keep(merge, profile_entry(place, i)) };
		size_t same = find_mount(merge, &mount);

		if (same < merge->options.mounts.count)
			continue;
		if (same < merge->config->mounts.count) {
			merge->config->mounts.items[same] = mount;
			continue;
		}
		if (same >= row->most)
			return profile_too_many(place, row);
		vec_push(merge->arena, &merge->config->mounts, mount);
	}
	return true;
}

static bool take_packages(struct merge *merge, const struct profile_place *place,
			  const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct config_package package = { .name = copy(merge, value),
						  .origin = merge->origin,
						  .place = keep(merge, profile_entry(place, i)) };
		bool known = false;

		vec_each(other, &merge->config->packages)
			known |= str_equal(other->name, package.name);
		if (known)
			continue;
		if (merge->config->packages.count >= row->most)
			return profile_too_many(place, row);
		vec_push(merge->arena, &merge->config->packages, package);
	}
	return true;
}

static void take_limits(struct merge *merge, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		enum limit limit = 0;
		struct config_limit *to;

		while (!str_equal(limit_table[limit].name, key))
			limit++;
		to = &merge->config->limits[limit];
		to->origin = merge->origin;
		to->value = (unsigned long long)json_integer_value(value);
		if (json_is_string(value)) // checked before
			limit_parse(merge->arena, limit, json_string_value(value), &to->value);
	}
}

static bool take(struct merge *merge, enum profile_key key, json_t *value)
{
	const struct profile_row *row = &profile_table[key];
	struct profile_place place = profile_member(&merge->root, row->key);
	struct config *config = merge->config;

	switch (key) {
	case KEY_NETWORK:
		if (merge->options.network_by)
			return true;
		config->network = (enum network_tier)profile_choice(row, value);
		config->network_by = merge->origin;
		merge->tier_from = merge->layer + 1;
		return true;
	case KEY_HOST_PORTS:
		return take_ports(merge, &place, row, value, &config->host_ports);
	case KEY_PUBLISH:
		return take_ports(merge, &place, row, value, &config->published_ports);
	case KEY_ENV:
		return take_variables(merge, &place, row, value);
	case KEY_PASSTHROUGH:
		return take_names(merge, &place, row, value);
	case KEY_MOUNTS:
		return take_mounts(merge, &place, row, value);
	case KEY_PACKAGES:
		return take_packages(merge, &place, row, value);
	case KEY_NIXPKGS:
		config->nixpkgs = copy(merge, value);
		config->nixpkgs_place = keep(merge, place);
		return true;
	case KEY_NIX_DAEMON:
		config->nix_daemon = json_is_true(value);
		return true;
	case KEY_NESTED:
		config->nested = json_is_true(value);
		config->nested_by = merge->origin;
		return true;
	case KEY_PROJECT:
		config->project_read_only = profile_choice(row, value) == 1;
		return true;
	case KEY_TERMINAL:
		config->terminal = (enum terminal_mode)profile_choice(row, value);
		return true;
	case KEY_LIMITS:
		take_limits(merge, value);
		return true;
	case KEY_CONFIRM:
		config->confirm = (enum confirm)profile_choice(row, value);
		return true;
	case KEY_DESCRIPTION:
		config->profile_description = copy(merge, value);
		return true;
	case KEY_NAME:
	case KEY_EXTENDS:
	case KEY_COUNT:
		break;
	}
	return true;
}

// Ports are for inet. Whoever chose another tier over a profile's head takes its ports away; a profile that nobody
// overrules contradicts itself.
static bool settle_ports(struct merge *merge)
{
	struct config *config = merge->config;

	if (config->network == NETWORK_INET)
		return true;
	vec_each(claim, &merge->claims) {
		if (merge->options.network_by || merge->tier_from > claim->from + 1)
			continue;
		error_hint(merge->root.error, "add \"network\": \"inet\", or take the ports out");
		return profile_fail(&claim->place, LOCATE_KEY, "'%s' is for network inet, not %s",
				    claim->key, network_tier_names[config->network]);
	}
	config->host_ports.count = merge->options.host_ports.count;
	config->published_ports.count = merge->options.published_ports.count;
	return true;
}

bool profile_extends(struct arena *arena, const struct profile_text *profile, const char **ret_name,
		     struct error *error)
{
	json_t *value = profile_load(profile, error);
	const json_t *base = json_object_get(value, profile_table[KEY_EXTENDS].key);

	if (!value)
		return false;
	*ret_name = base ? arena_strdup(arena, json_string_value(base)) : NULL;
	json_decref(value);
	return true;
}

const char *profile_description(struct arena *arena, const struct profile_text *profile)
{
	struct error error = { .arena = arena };
	json_t *value = profile_load(profile, &error);
	const json_t *text = json_object_get(value, profile_table[KEY_DESCRIPTION].key);
	const char *description = text ? arena_strdup(arena, json_string_value(text)) : NULL;

	json_decref(value);
	return description;
}

bool profile_apply(struct config *config, struct arena *arena, const struct profile_text *chain,
		   size_t count, struct error *error)
{
	struct merge merge = { .config = config, .arena = arena, .options = *config };

	for (size_t i = 0; i < count; i++) {
		json_t *profile = profile_load(&chain[i], error);
		bool ok = profile != NULL;

		config->profile_description = NULL; // each has its own
		merge.layer = i;
		merge.origin = arena_printf(arena, "profile %s", chain[i].name);
		merge.root = (struct profile_place){ .profile = &chain[i], .error = error };
		for (int key = 0; ok && key < KEY_COUNT; key++) {
			json_t *value = json_object_get(profile, profile_table[key].key);

			ok = !value || take(&merge, (enum profile_key)key, value);
		}
		json_decref(profile);
		if (!ok)
			return false;
		config->profile = arena_strdup(arena, chain[i].name);
	}
	return settle_ports(&merge);
}
