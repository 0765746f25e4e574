// SPDX-License-Identifier: MIT
// What nix in the box goes by: the settings and registries of the host's, but for what may hold a secret.
//
// Theory of operation: `nix shell nixpkgs#x` shall give in the box what it gives outside. Outside, the user's registry beats the
// system's, and that the one that flake-registry names; the box has one file for all three. A profile's packages
// have shown where in the store nixpkgs is: then that comes first, and nothing is fetched again.
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

// Of the user's own settings, those that a tool in the box would miss; tokens are in others.
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

// Of the system's, those that may hold a token, a password file or an include, which could.
static const char *const closed_settings[] = {
	"access-tokens",    "extra-access-tokens", "netrc-file", "include",   "!include",
	"secret-key-files", "post-build-hook",     "diff-hook",  "build-hook"
};

// What stands behind the name of a setting; NULL: the line is about something else.
static const char *setting(const char *line, const char *name)
{
	const char *rest = str_after(line + strspn(line, " \t"), name);

	return rest && (*rest == ' ' || *rest == '\t' || *rest == '=') ? rest : NULL;
}

static bool is_one_of(const char *line, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (setting(line, names[i]))
			return true;
	return false;
}

// In the whole, in a part, or in what the query of a URL names so.
static bool holds_secret(struct arena *arena, const char *text)
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
	return secret_value(text) != NULL;
}

static bool is_plain(struct arena *arena, const char *line)
{
	for (const char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' && *s != '\t')
			return false;
	return !holds_secret(arena, line);
}

static void add_settings(struct text *out, struct arena *arena, const char *content, bool user)
{
	const char *line;

	while (content && (line = str_next_line(arena, &content))) {
		bool open = user ? is_one_of(line, user_settings, ARRAY_SIZE(user_settings))
				 : !is_one_of(line, closed_settings, ARRAY_SIZE(closed_settings));

		if (open && is_plain(arena, line))
			text_printf(out, "%s\n", line);
	}
}

static const char *open_settings(struct arena *arena, const struct facts *facts)
{
	struct text out = { .arena = arena };

	add_settings(&out, arena, facts->nix_conf_text, false);
	add_settings(&out, arena, facts->nix.user_settings, true);
	return text_get(&out);
}

const char *plan_nix_registry_file(struct arena *arena, const struct facts *facts)
{
	const char *settings = open_settings(arena, facts);
	const char *found = NULL;
	const char *line;

	while ((line = str_next_line(arena, &settings))) {
		const char *value = setting(line, "flake-registry");

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

	text_add(&out, open_settings(arena, facts));
	// Claude is told to use them.
	text_add(&out, "extra-experimental-features = nix-command flakes\n");
	// The file itself is not in the box; what it says is.
	if (plan_nix_registry_file(arena, facts))
		text_add(&out, "flake-registry = " NIX_REGISTRY "\n");
	return text_get(&out);
}

static bool secret_in(struct arena *arena, json_t *reference)
{
	const char *key;
	json_t *value;

	json_object_foreach(reference, key, value) {
		const char *text = json_string_value(value);

		if (text && (holds_secret(arena, text) || secret_name(key)))
			return true;
	}
	return false;
}

// A directory or repository of this machine, which the box does not have.
static const char *local_path(const json_t *reference)
{
	const char *path = json_string_value(json_object_get(reference, "path"));
	const char *url = json_string_value(json_object_get(reference, "url"));

	if (!path && url)
		path = str_after(url, "file://");
	return path && !path_within(path, "/nix/store") ? path : NULL;
}

static bool is_known(const json_t *flakes, const json_t *from)
{
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)flakes, i, entry)
		if (json_equal(json_object_get(entry, "from"), from))
			return true;
	return false;
}

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

		if (!json_is_object(from) || !json_is_object(to) || is_known(flakes, from))
			continue;
		if (secret_in(arena, to) || secret_in(arena, from)) {
			plan_warn(plan, arena,
				  "'%s' of the Nix registry holds something like a secret and is "
				  "left out",
				  shown);
			continue;
		}
		if (local_path(to))
			plan_warn(plan, arena,
				  "'%s' of the Nix registry is '%s', which is not in the box: nix "
				  "will not find it there",
				  shown, quote_word(arena, local_path(to), 120));
		json_array_append(flakes, entry);
	}
}

bool plan_makes_nix_registry(const struct facts *facts)
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
