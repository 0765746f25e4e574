// SPDX-License-Identifier: MIT
// Claude by a cloud: the switch and the region pass, the credentials only by name.
#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/connections/connections.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>
#include <strings.h>

// Returns whether a switch is on, in the variables of the box or in the user's settings.
static bool is_on(const struct connections *all, const json_t *settings, const char *name)
{
	const char *value = plan_variable(all->plan, name);

	if (!value)
		value = json_string_value(json_object_get(json_object_get(settings, "env"), name));
	return value && *value && !str_equal(value, "0") && strcasecmp(value, "false") != 0;
}

static bool place_exists(const struct connections *all, const char *place)
{
	vec_each(secret, &all->facts->secrets) {
		if (str_equal(secret->path, place))
			return !secret->missing;
	}
	return false;
}

static bool is_mounted(const struct plan *plan, const char *place)
{
	vec_each(mount, &plan->mounts) {
		if (plan_from_host(mount) && path_overlaps(mount->source, place) &&
		    mount->origin.kind == ORIGIN_REQUESTED)
			return true;
	}
	return false;
}

static void pass_regions(struct connections *all, const struct cloud_row *cloud)
{
	for (size_t i = 0; i < ARRAY_SIZE(cloud->regions) && cloud->regions[i]; i++) {
		const char *value = facts_variable(all->facts, cloud->regions[i]);

		if (value && connection_open(all, cloud->regions[i]) && !secret_text(NULL, value))
			connection_pass(all, cloud->regions[i], value, "region of the cloud");
	}
}

// Returns whether the only credential is the name of a profile, whose keys are in a file.
static bool names_profile_only(const strings *set)
{
	return set->count == 1 && str_equal(set->items[0], "AWS_PROFILE");
}

// Returns the options that bring the credentials of a cloud.
static const char *find_option(const struct connections *all, const struct cloud_row *cloud,
			       const strings *set, const char *place)
{
	static const char file_variable[] = "GOOGLE_APPLICATION_CREDENTIALS";
	const char *file = str_equal(cloud->credentials[0], file_variable)
				   ? facts_variable(all->facts, file_variable)
				   : NULL;
	strings first = { 0 };
	const char *names = set->count ? connection_by_name(all, set) : NULL;

	if (file)
		return arena_printf(all->arena, "%s with --mount-ro %s", names,
				    quote_word(all->arena,
					       path_tilde(all->arena, file, all->facts->home),
					       120));
	if (names && !names_profile_only(set))
		return names;
	if (place_exists(all, place))
		return arena_printf(all->arena, "%s%s--mount-ro %s", names ? names : "",
				    names ? " with " : "", cloud->place);
	if (names)
		return names;
	vec_push(all->arena, &first, cloud->credentials[0]);
	return arena_printf(all->arena, "set %s, and %s", cloud->credentials[0],
			    connection_by_name(all, &first));
}

static void name_credentials(struct connections *all, const struct cloud_row *cloud)
{
	const char *place = path_expand_home(all->arena, cloud->place, all->facts->home);
	const char *what = arena_printf(all->arena, "credentials of %s", cloud->name);
	strings set = { 0 };
	const char *option;

	if (is_mounted(all->plan, place))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cloud->credentials) && cloud->credentials[i]; i++) {
		if (plan_variable(all->plan, cloud->credentials[i]))
			return;
		if (facts_variable(all->facts, cloud->credentials[i]))
			vec_push(all->arena, &set, cloud->credentials[i]);
	}
	option = find_option(all, cloud, &set, place);
	if (set.count)
		connection_leave_out(all, &set, what, cloud->why, option);
	else
		plan_leave_out(all->plan, all->arena, what, "Claude needs them", option);
}

void connections_add_clouds(struct connections *all)
{
	JSON_OWNED *settings = json_read_object(all->facts->user_claude.settings_json, 0);

	for (size_t i = 0; i < cloud_table_count; i++) {
		const struct cloud_row *cloud = &cloud_table[i];

		if (!is_on(all, settings, cloud->enable))
			continue;
		pass_regions(all, cloud);
		if (!is_on(all, settings, cloud->skip))
			name_credentials(all, cloud);
	}
}
