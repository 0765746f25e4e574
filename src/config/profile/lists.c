// SPDX-License-Identifier: MIT
// Merges the lists and objects of a profile into the configuration.
#include "config/profile/lists.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/profile/check.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"

#include <string.h>

static const char *copy(const struct profile_merge *merge, const json_t *value)
{
	return value ? arena_strdup(merge->arena, json_string_value(value)) : NULL;
}

struct origin profile_origin(const struct profile_merge *merge, const struct profile_place *place)
{
	struct profile_place *kept = arena_alloc(merge->arena, sizeof(*kept));

	*kept = *place;
	kept->error = NULL;
	return (struct origin){ .kind = ORIGIN_REQUESTED, .name = merge->origin, .place = kept };
}

bool profile_apply_ports(struct profile_merge *merge, const struct profile_place *place,
			 const struct profile_row *row, json_t *list)
{
	ports *merged = (ports *)((char *)merge->config + row->value);
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);
		struct config_port port = { .number = (unsigned int)json_integer_value(value),
					    .origin = profile_origin(merge, &inner) };
		bool known = false;

		vec_each(other, merged)
			known |= other->number == port.number;
		if (known)
			continue;
		if (merged->count >= row->most)
			return profile_too_many(&inner, row);
		vec_push(merge->arena, merged, port);
	}
	if (json_array_size(list))
		vec_push(merge->arena, &merge->port_keys, *place);
	return true;
}

static bool add_variable(struct profile_merge *merge, const struct profile_place *place,
			 const struct profile_row *row, struct config_variable variable)
{
	struct config *config = merge->config;

	for (size_t i = 0; i < config->variables.count; i++) {
		if (!str_equal(config->variables.items[i].name, variable.name))
			continue;
		if (i >= merge->options.variables.count)
			config->variables.items[i] = variable;
		return true;
	}
	if (config->variables.count >= row->most)
		return profile_too_many(place, row);
	vec_push(merge->arena, &config->variables, variable);
	return true;
}

bool profile_apply_variables(struct profile_merge *merge, const struct profile_place *place,
			     const struct profile_row *row, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		const char *name = arena_strdup(merge->arena, key); // outlives the object
		struct profile_place inner = profile_member(place, name);

		if (!add_variable(
			    merge, place, row,
			    (struct config_variable){ .name = name,
						      .value = copy(merge, value),
						      .origin = profile_origin(merge, &inner) }))
			return false;
	}
	return true;
}

bool profile_apply_names(struct profile_merge *merge, const struct profile_place *place,
			 const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);

		if (!add_variable(
			    merge, place, row,
			    (struct config_variable){ .name = copy(merge, value),
						      .origin = profile_origin(merge, &inner) }))
			return false;
	}
	return true;
}

// Returns the index of the mount that has the same path in the box; the number of mounts: none.
static size_t find_mount(const struct profile_merge *merge, const struct config_mount *mount)
{
	const char *path = mount->destination ? mount->destination : mount->source;
	const char *destination = profile_destination(merge->arena, path);
	size_t i;

	for (i = 0; i < merge->config->mounts.count; i++) {
		const struct config_mount *known = &merge->config->mounts.items[i];

		path = known->destination ? known->destination : known->source;
		if (str_equal(profile_destination(merge->arena, path), destination))
			break;
	}
	return i;
}

// Adds a mount, or replaces the one of a base with the same path in the box. One of the command
// line stays.
static bool add_mount(struct profile_merge *merge, const struct profile_place *place,
		      const struct profile_row *row, struct config_mount mount)
{
	size_t same = find_mount(merge, &mount);

	if (same < merge->options.mounts.count)
		return true;
	if (same < merge->config->mounts.count) {
		merge->config->mounts.items[same] = mount;
		return true;
	}
	if (same >= row->most)
		return profile_too_many(place, row);
	vec_push(merge->arena, &merge->config->mounts, mount);
	return true;
}

bool profile_apply_mounts(struct profile_merge *merge, const struct profile_place *place,
			  const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		const json_t *mode = json_object_get(value, "mode");
		struct profile_place inner = profile_entry(place, i);

		if (!add_mount(merge, place, row,
			       (struct config_mount){
				       .source = copy(merge, json_object_get(value, "host")),
				       .destination = copy(merge, json_object_get(value, "sandbox")),
				       .writable = str_equal(json_string_value(mode), "rw"),
				       .origin = profile_origin(merge, &inner) }))
			return false;
	}
	return true;
}

bool profile_apply_path(struct profile_merge *merge, const struct profile_place *place,
			const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);

		if (strchr(json_string_value(value), ':')) {
			profile_fail(&inner, LOCATE_VALUE, "'%s' has a ':'",
				     profile_place_name(&inner));
			return error_hint(inner.error,
					  "':' separates the directories of PATH; give one in "
					  "each entry");
		}
		if (!add_mount(merge, place, row,
			       (struct config_mount){ .source = copy(merge, value),
						      .on_path = true,
						      .origin = profile_origin(merge, &inner) }))
			return false;
	}
	return true;
}

bool profile_apply_unprotect(struct profile_merge *merge, const struct profile_place *place,
			     const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	(void)row;
	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);

		vec_push(merge->arena, &merge->config->unprotect,
			 (struct config_unprotect){ .path = copy(merge, value),
						    .origin = profile_origin(merge, &inner) });
	}
	return true;
}

bool profile_apply_packages(struct profile_merge *merge, const struct profile_place *place,
			    const struct profile_row *row, json_t *list)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);
		struct config_package package = { .name = copy(merge, value),
						  .origin = profile_origin(merge, &inner) };
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

bool profile_apply_limits(struct profile_merge *merge, const struct profile_place *place,
			  const struct profile_row *row, json_t *object)
{
	(void)row;
	for (int limit = 0; limit < LIMIT_KEY_COUNT; limit++) {
		const char *key = profile_limit_table[limit].key;
		const json_t *value = json_object_get(object, key);
		struct profile_place inner = profile_member(place, key);
		struct config_limit *merged = &merge->config->limits[limit];

		if (!value)
			continue;
		merged->origin = profile_origin(merge, &inner);
		merged->value = (unsigned long long)json_integer_value(value);
		if (json_is_string(value))
			limit_parse(merge->arena, (enum limit)limit, json_string_value(value),
				    &merged->value);
	}
	return true;
}
