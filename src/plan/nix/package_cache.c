// SPDX-License-Identifier: MIT
// Renders and parses the JSON of a cache entry for resolved packages.
#include "plan/nix/package_cache.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/nix/packages.h"

#include <string.h>

enum { VERSION = 2, KEY_DIGITS = 32 };

const char *packages_key(struct arena *arena, const struct package_request *request)
{
	struct text all = { .arena = arena };

	// packages_check refuses names and references with a newline.
	text_printf(&all, "%s\n%s\n", request->reference, request->system);
	vec_each(name, &request->names)
		text_printf(&all, "%s\n", *name);
	return digest_hex(arena, text_get(&all), KEY_DIGITS);
}

static json_t *render_outputs(const package_rows *rows, const char *name)
{
	json_t *list = json_array();

	vec_each(row, rows) {
		if (str_equal(row->name, name))
			json_array_append_new(list, json_pack("{s:s, s:b}", "path", row->path,
							      "bin", row->bin != NULL));
	}
	return list;
}

const char *packages_render_cache(struct arena *arena, const struct package_request *request,
				  const struct package_answer *answer, enum reference_kind kind,
				  int64_t now)
{
	json_t *packages = json_array();
	JSON_OWNED *all = NULL;

	vec_each(name, &request->names)
		json_array_append_new(packages, json_pack("{s:s, s:o}", "name", *name, "outputs",
							  render_outputs(&answer->rows, *name)));
	all = json_pack("{s:i, s:s, s:s, s:s, s:s?, s:I, s:o}", "version", VERSION, "reference",
			request->reference, "system", request->system, "stamp", request->stamp,
			"nixpkgs", answer->nixpkgs, "until",
			(json_int_t)(kind == REFERENCE_FIXED ? 0 : now + PACKAGES_REMOTE_SECONDS),
			"packages", packages);
	return json_write(arena, all, JSON_INDENT(2));
}

static bool string_is(const json_t *object, const char *key, const char *wanted)
{
	return str_equal(json_string_value(json_object_get(object, key)), wanted);
}

static bool parse_package(struct arena *arena, const json_t *package, const char *name,
			  package_rows *rows)
{
	const json_t *outputs = json_object_get(package, "outputs");
	json_t *output;
	size_t i;

	if (!string_is(package, "name", name) || json_array_size(outputs) == 0)
		return false;
	json_array_foreach(outputs, i, output) {
		const char *path = json_string_value(json_object_get(output, "path"));
		const json_t *bin = json_object_get(output, "bin");

		if (!path || !packages_store_path_valid(path) || !json_is_boolean(bin))
			return false;
		path = arena_strdup(arena, path);
		vec_push(arena, rows,
			 (struct package_facts){
				 .name = name,
				 .path = path,
				 .bin = json_is_true(bin) ? path_join(arena, path, "bin") : NULL });
	}
	return true;
}

bool packages_parse_cache(struct arena *arena, const char *json,
			  const struct package_request *request, int64_t now,
			  struct package_answer *ret_answer)
{
	JSON_OWNED *all = json_read_object(json, 0);
	const json_t *packages = json_object_get(all, "packages");
	const json_t *until = json_object_get(all, "until");
	const char *nixpkgs = json_string_value(json_object_get(all, "nixpkgs"));
	json_int_t end = json_integer_value(until);
	package_rows rows = { 0 };

	if (nixpkgs && !packages_store_path_valid(nixpkgs))
		return false;
	if (json_integer_value(json_object_get(all, "version")) != VERSION ||
	    !string_is(all, "reference", request->reference) ||
	    !string_is(all, "system", request->system) ||
	    !string_is(all, "stamp", request->stamp) || !json_is_integer(until) ||
	    json_array_size(packages) != request->names.count)
		return false;
	// The second test is for a clock that was set back.
	if (end && (end <= now || end > now + PACKAGES_REMOTE_SECONDS))
		return false;
	for (size_t i = 0; i < request->names.count; i++)
		if (!parse_package(arena, json_array_get(packages, i), request->names.items[i],
				   &rows))
			return false;
	*ret_answer =
		(struct package_answer){ .rows = rows,
					 .nixpkgs = nixpkgs ? arena_strdup(arena, nixpkgs) : NULL };
	return true;
}
