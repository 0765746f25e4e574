// SPDX-License-Identifier: MIT
// Validates names and references before they are passed to nix, and parses nix's output.
#include "plan/nix/packages.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "config/profile/place.h"

#include <string.h>

enum { URL_MAX = 1000, HASH_DIGITS = 32, REVISION_DIGITS = 40 };

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define STORE              "/nix/store/"

const char *packages_render_name(struct arena *arena, const struct config_package *package)
{
	const char *name = quote_display(arena, package->name, 60);

	if (package->origin.place)
		return arena_printf(arena, "%s: '%s'",
				    profile_place_shown(arena, package->origin.place, NULL), name);
	return package->origin.name ? arena_printf(arena, "package '%s' (%s)", name,
						   quote_display(arena, package->origin.name, 80))
				    : arena_printf(arena, "package '%s'", name);
}

const char *packages_render_source(struct arena *arena, const struct config *config)
{
	const char *shown = config->nixpkgs ? quote_display(arena, config->nixpkgs, 80) : "nixpkgs";

	return config->nixpkgs_origin.place
		       ? arena_printf(arena, "%s: '%s'",
				      profile_place_shown(arena, config->nixpkgs_origin.place,
							  NULL),
				      shown)
		       : arena_printf(arena, "nixpkgs '%s'", shown);
}

// Returns whether a URL from nix can be passed back to it. It may have more characters than a
// reference in a profile.
static bool is_valid_url(const char *url)
{
	if (!*url || *url == '-' || strlen(url) > URL_MAX)
		return false;
	for (const char *s = url; *s; s++)
		if (*s <= ' ' || *s > '~' || strchr("#^\"'`\\", *s))
			return false;
	return true;
}

bool packages_check(const struct config *config, struct error *error)
{
	enum flake_reference verdict = config->nixpkgs ? flake_reference_check(config->nixpkgs)
						       : FLAKE_VALID;

	if (verdict != FLAKE_VALID) {
		error_set(error, "%s %s", packages_render_source(error->arena, config),
			  verdict == FLAKE_RELATIVE ? "is relative" : "is not a flake reference");
		return error_hint(error, "for example github:NixOS/nixpkgs/nixos-24.11, or path: "
					 "followed by an absolute path");
	}
	vec_each(package, &config->packages) {
		if (package_name_valid(package->name))
			continue;
		error_set(error, "%s: not a valid package name",
			  packages_render_name(error->arena, package));
		return error_hint(error, "use the name of an attribute of nixpkgs, for example "
					 "ripgrep or python3Packages.black");
	}
	return true;
}

static bool is_revision(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return length == REVISION_DIGITS && strchr("?&/", text[length]) != NULL;
}

// Returns the value of a parameter in the URL's query, NULL if it has none of this name.
static const char *find_parameter(const char *url, const char *name)
{
	const char *query = strchr(url, '?');

	for (const char *s = query; s && *s; s = strpbrk(s, "&")) {
		const char *value = str_after(++s, name);

		if (value && *value == '=')
			return value + 1;
	}
	return NULL;
}

enum reference_kind packages_reference_kind(const char *url)
{
	static const char *const forges[] = { "github:", "gitlab:", "sourcehut:" };
	static const char *const remote[] = { "http://",          "https://",       "git+https://",
					      "git+http://",      "git+ssh://",     "git://",
					      "hg+https://",      "hg+http://",     "hg+ssh://",
					      "tarball+https://", "tarball+http://" };
	const char *revision = find_parameter(url, "rev");

	if (str_starts(url, "path:" STORE) && !strstr(url, "/.."))
		return REFERENCE_FIXED;
	if (find_parameter(url, "narHash") || (revision && is_revision(revision)))
		return REFERENCE_FIXED;
	for (size_t i = 0; i < ARRAY_SIZE(forges); i++) {
		const char *owner = str_after(url, forges[i]);
		const char *repository = owner ? strchr(owner, '/') : NULL;
		const char *branch = repository ? strchr(repository + 1, '/') : NULL;

		if (owner)
			return branch && is_revision(branch + 1) ? REFERENCE_FIXED
								 : REFERENCE_REMOTE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(remote); i++)
		if (str_starts(url, remote[i]))
			return REFERENCE_REMOTE;
	return REFERENCE_LOCAL;
}

bool packages_parse_source(struct arena *arena, const char *json, struct package_source *ret_source)
{
	JSON_OWNED *all = json_read_object(json, 0);
	const char *url = json_string_value(json_object_get(all, "url"));
	const char *resolved = json_string_value(json_object_get(all, "resolvedUrl"));
	const char *path = json_string_value(json_object_get(all, "path"));

	if (!url || !resolved || !is_valid_url(url))
		return false;
	if (path && !packages_store_path_valid(path))
		path = NULL;
	*ret_source = (struct package_source){ .url = arena_strdup(arena, url),
					       .path = path ? arena_strdup(arena, path) : NULL,
					       .kind = packages_reference_kind(resolved) };
	return true;
}

bool packages_store_path_valid(const char *path)
{
	const char *hash = str_after(path, STORE);

	return hash && strspn(hash, "0123456789abcdefghijklmnopqrstuvwxyz") == HASH_DIGITS &&
	       hash[HASH_DIGITS] == '-' && hash[HASH_DIGITS + 1] &&
	       strspn(hash, LETTERS_AND_DIGITS "+-._?=") == strlen(hash);
}

static bool parse_outputs(struct arena *arena, json_t *object, package_outputs *outputs)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		const char *path = json_string_value(value);

		// A content-addressed output has no path before it is built.
		if (path && !packages_store_path_valid(path))
			return false;
		vec_push(arena, outputs,
			 (struct package_output){ .name = arena_strdup(arena, name),
						  .path = path ? arena_strdup(arena, path)
							       : NULL });
	}
	return true;
}

bool packages_parse_builds(struct arena *arena, const char *json, package_builds *ret_builds)
{
	JSON_OWNED *all = json_loads(json, 0, NULL);
	package_builds builds = { 0 };
	json_t *entry;
	size_t i;

	if (!json_is_array(all))
		return false;
	json_array_foreach(all, i, entry) {
		const char *derivation = json_string_value(json_object_get(entry, "drvPath"));
		struct package_build build = { 0 };

		// A store path that was an argument is a string, or an object with a path only.
		if (json_is_string(entry) || (!derivation && json_object_get(entry, "path")))
			continue;
		if (!derivation || !packages_store_path_valid(derivation) ||
		    !parse_outputs(arena, json_object_get(entry, "outputs"), &build.outputs))
			return false;
		build.derivation = arena_strdup(arena, derivation);
		vec_push(arena, &builds, build);
	}
	*ret_builds = builds;
	return true;
}

// Parses a string in quotes without escapes. Returns NULL if there is none at the cursor.
static const char *parse_string(struct arena *arena, const char **cursor)
{
	const char *start = *cursor + 1;
	size_t length;

	if (**cursor != '"')
		return NULL;
	length = strcspn(start, "\"\\");
	if (start[length] != '"')
		return NULL;
	*cursor = start + length + 1;
	return arena_strndup(arena, start, length);
}

bool packages_parse_derivation(struct arena *arena, const char *text, package_outputs *ret_outputs)
{
	const char *s = str_after(text, "Derive([");
	package_outputs outputs = { 0 };

	for (; s && *s == '('; s += *s == ',') {
		const char *fields[4]; // name, path, hash algorithm and hash of the content

		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			s++; // '(' or ','
			fields[i] = parse_string(arena, &s);
			if (!fields[i] || *s != (i + 1 < ARRAY_SIZE(fields) ? ',' : ')'))
				return false;
		}
		s++;
		if (*fields[1] && !packages_store_path_valid(fields[1]))
			return false;
		vec_push(arena, &outputs,
			 (struct package_output){ .name = fields[0],
						  .path = *fields[1] ? fields[1] : NULL });
	}
	if (!s || *s != ']' || !outputs.count)
		return false;
	*ret_outputs = outputs;
	return true;
}

bool packages_output_is_auxiliary(const char *output)
{
	static const char *const auxiliary[] = { "dev",  "devdoc", "doc", "docs",  "man",
						 "info", "debug",  "lib", "static" };

	for (size_t i = 0; i < ARRAY_SIZE(auxiliary); i++)
		if (str_equal(output, auxiliary[i]))
			return true;
	return false;
}
