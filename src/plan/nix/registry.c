// SPDX-License-Identifier: MIT
// Nix's settings and flake registry in the box: those of the host without secrets.
//
// Theory of operation: `nix shell nixpkgs#x` gives the same package in the box as on the host. On
// the host there are three registries: the user's takes precedence over the system's, and that over
// the file of the setting flake-registry. The box has one generated file with the entries of all
// three, in this order. If packages were resolved before, the store path of nixpkgs is known. It
// becomes the first entry, so that nix in the box does not fetch nixpkgs again.
#include "plan/nix/registry.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/tables.h"

#include <string.h>

// The user's settings that are copied. None of them holds tokens.
static const char *const user_settings[] = {
	"experimental-features",
	"flake-registry",
	"use-registries",
	"substituters",
	"extra-substituters",
	"trusted-public-keys",
	"max-jobs",
	"cores",
	"warn-dirty",
	"extra-experimental-features",
};

// The system's settings that are not copied, because they may hold a token, name a file with
// passwords, name a program to run, or include another file.
static const char *const refused_settings[] = {
	"access-tokens",    "extra-access-tokens", "netrc-file", "include",   "!include",
	"secret-key-files", "post-build-hook",     "diff-hook",  "build-hook"
};

// Returns the text behind the setting's name, NULL if the line has another setting.
static const char *setting_value(const char *line, const char *name)
{
	const char *rest = str_after(line + strspn(line, " \t"), name);

	return rest && (*rest == ' ' || *rest == '\t' || *rest == '=') ? rest : NULL;
}

static bool line_sets_any(const char *line, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (setting_value(line, names[i]))
			return true;
	return false;
}

// Returns whether the text, one of its parts, or a parameter in the query of a URL looks like a
// secret.
static bool contains_secret(struct arena *arena, const char *text)
{
	static const char separators[] = " \t?&=;,#";
	bool query = false;

	for (const char *s = text; *s; s += *s != '\0') {
		size_t length = strcspn(s, separators);
		const char *part = arena_strndup(arena, s, length);

		if (secret_value(part) || (query && s[length] == '=' && secret_name(part)))
			return true;
		query |= s[length] == '?';
		s += length;
	}
	return secret_text(NULL, text) != NULL;
}

// Returns whether the line contains no secret and no control characters.
static bool is_harmless(struct arena *arena, const char *line)
{
	for (const char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' && *s != '\t')
			return false;
	return !contains_secret(arena, line);
}

static void add_settings(struct text *out, struct arena *arena, const char *content, bool user)
{
	const char *line;

	while (content && (line = str_next_line(arena, &content))) {
		bool allowed =
			user ? line_sets_any(line, user_settings, ARRAY_SIZE(user_settings))
			     : !line_sets_any(line, refused_settings, ARRAY_SIZE(refused_settings));

		if (allowed && is_harmless(arena, line))
			text_printf(out, "%s\n", line);
	}
}

static const char *render_allowed_settings(struct arena *arena, const struct facts *facts)
{
	struct text out = { .arena = arena };

	add_settings(&out, arena, facts->nix_conf_text, false);
	add_settings(&out, arena, facts->nix.user_settings, true);
	return text_get(&out);
}

const char *plan_nix_registry_file(struct arena *arena, const struct facts *facts)
{
	const char *settings = render_allowed_settings(arena, facts);
	const char *found = NULL;
	const char *line;

	while ((line = str_next_line(arena, &settings))) {
		const char *value = setting_value(line, "flake-registry");

		if (value) {
			value += strspn(value, " \t=");
			found = arena_strndup(arena, value, strcspn(value, " \t\r#"));
		}
	}
	return found && found[0] == '/' && !path_within(found, "/nix/store") ? found : NULL;
}

const char *plan_nix_settings(struct arena *arena, const struct facts *facts)
{
	struct text out = { .arena = arena };

	text_add(&out, render_allowed_settings(arena, facts));
	// The instructions to Claude use these commands.
	text_add(&out, "extra-experimental-features = nix-command flakes\n");
	// The named file is not in the box, but its entries are in the generated registry.
	if (plan_nix_registry_file(arena, facts))
		text_add(&out, "flake-registry = " NIX_REGISTRY "\n");
	return text_get(&out);
}

static bool has_secret_field(struct arena *arena, json_t *reference)
{
	const char *key;
	json_t *value;

	json_object_foreach(reference, key, value) {
		const char *text = json_string_value(value);

		if (text && (contains_secret(arena, text) || secret_name(key)))
			return true;
	}
	return false;
}

// Returns the path of a directory or repository outside the store, NULL for other references.
static const char *local_path(const json_t *reference)
{
	const char *path = json_string_value(json_object_get(reference, "path"));
	const char *url = json_string_value(json_object_get(reference, "url"));

	if (!path && url)
		path = str_after(url, "file://");
	return path && !path_within(path, "/nix/store") ? path : NULL;
}

static bool has_entry(const json_t *flakes, const json_t *from)
{
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)flakes, i, entry)
		if (json_equal(json_object_get(entry, "from"), from))
			return true;
	return false;
}

// Adds the entries of a registry that are not in `flakes` yet.
static void add_registry(json_t *flakes, struct plan *plan, struct arena *arena, const char *text)
{
	JSON_OWNED *all = text ? json_read_object(text, 0) : NULL;
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(all, "flakes"), i, entry) {
		json_t *from = json_object_get(entry, "from");
		json_t *to = json_object_get(entry, "to");
		const char *id = json_string_value(json_object_get(from, "id"));
		const char *shown = quote_word(arena, id ? id : "?", 60);

		if (!json_is_object(from) || !json_is_object(to) || has_entry(flakes, from))
			continue;
		if (has_secret_field(arena, to) || has_secret_field(arena, from)) {
			plan_warn_outside(
				plan, arena,
				"entry '%s' of the Nix registry is left out: it looks like it "
				"contains a secret",
				shown);
			continue;
		}
		if (local_path(to))
			plan_warn_outside(
				plan, arena,
				"entry '%s' of the Nix registry does not work in the box: '%s' "
				"is not mounted",
				shown, quote_word(arena, local_path(to), 120));
		json_array_append(flakes, entry);
	}
}

bool plan_generates_nix_registry(const struct facts *facts)
{
	return facts->nix.user_registry || facts->nix.global_registry || facts->nixpkgs;
}

const char *plan_nix_registry(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct nix_facts *nix = &facts->nix;
	JSON_OWNED *all = NULL;
	json_t *flakes = json_array();

	if (facts->nixpkgs)
		json_array_append_new(flakes, json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "from",
							"type", "indirect", "id", "nixpkgs", "to",
							"type", "path", "path", facts->nixpkgs));
	add_registry(flakes, plan, arena, nix->user_registry);
	add_registry(flakes, plan, arena, nix->system_registry);
	add_registry(flakes, plan, arena, nix->global_registry);
	all = json_pack("{s:i, s:o}", "version", 2, "flakes", flakes);
	return json_write(arena, all, JSON_INDENT(2));
}
