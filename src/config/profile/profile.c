// SPDX-License-Identifier: MIT
// Merges profiles into the configuration. The command line overrides a profile, and a profile
// overrides the one it extends.
#include "config/profile/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "config/locate.h"
#include "config/options/table.h"
#include "config/profile/lists.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"

static const char *string_member(struct arena *arena, const struct profile *profile,
				 const char *key)
{
	const char *text = json_string_value(json_object_get(profile->object, key));

	return text ? arena_strdup(arena, text) : NULL;
}

const char *profile_extends(struct arena *arena, const struct profile *profile)
{
	return string_member(arena, profile, "extends");
}

const char *profile_description(struct arena *arena, const struct profile *profile)
{
	return string_member(arena, profile, "description");
}

static bool apply_key(struct profile_merge *merge, const struct profile_place *root,
		      const struct profile_row *row, json_t *value)
{
	struct profile_place place = profile_member(root, row->key);

	if (row->apply)
		return row->apply(merge, &place, row, value);
	if (row->value)
		profile_setting_apply(merge, &place, row, value);
	return true;
}

// Drops the ports of profiles if the tier is not inet. A profile that requests ports and is not
// overridden by the command line, or by a profile later in the chain, contradicts itself: an error.
static bool check_ports(const struct profile_merge *merge, struct error *error)
{
	struct config *config = merge->config;
	const struct origin *tier = &config->network_origin;
	bool by_option = tier->kind == ORIGIN_REQUESTED && !tier->place;

	if (config->network == NETWORK_INET)
		return true;
	vec_each(key, &merge->port_keys) {
		if (by_option || (tier->place && tier->place->profile > key->profile))
			continue;
		profile_fail(key, LOCATE_KEY, "'%s' requires network inet, not %s",
			     key->steps[0].key, network_tier_names[config->network]);
		return error_hint(error, "add \"network\": \"inet\", or remove the ports");
	}
	config->host_ports.count = merge->options.host_ports.count;
	config->published_ports.count = merge->options.published_ports.count;
	return true;
}

bool profile_apply(struct config *config, struct arena *arena, const struct profile *chain,
		   size_t count, struct error *error)
{
	struct profile_merge merge = { .config = config, .arena = arena, .options = *config };

	for (size_t layer = 0; layer < count; layer++) {
		const struct profile *profile = &chain[layer];
		struct profile_place root = { .profile = profile, .error = error };

		config->profile_description = NULL; // not inherited
		merge.origin = arena_printf(arena, "profile %s", profile->name);
		for (size_t i = 0; i < profile_table_count; i++) {
			json_t *value = json_object_get(profile->object, profile_table[i].key);

			if (value && !apply_key(&merge, &root, &profile_table[i], value))
				return false;
		}
		config->profile = arena_strdup(arena, profile->name);
	}
	return check_ports(&merge, error);
}

void profile_release(profile_chain *chain)
{
	vec_each(profile, chain) {
		json_decref(profile->object);
		profile->object = NULL;
	}
}
