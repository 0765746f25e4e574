// SPDX-License-Identifier: MIT
// Parses any bytes as a profile, alone and in a chain: no crash, no hang, and every accepted
// configuration is valid.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/locate.h"
#include "config/names.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "fuzz.h"

static bool is_plain(const char *text)
{
	for (const char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	return lines;
}

// Checks that an error is one line, with a position that is in the text.
static void check_error(const struct error *error, const struct profile *chain, size_t count)
{
	const struct profile *profile = chain;
	const char *place = error->message ? strstr(error->message, "': line ") : NULL;
	unsigned long line;
	unsigned long column;

	MUST(error->message && error->hint && error->status == EXIT_NOT_STARTED);
	MUST(is_plain(error->message) && is_plain(error->hint));
	MUST(str_starts(error->message, "profile '"));
	for (size_t i = 0; i < count; i++)
		if (str_starts(error->message + strlen("profile '"), chain[i].path))
			profile = &chain[i];
	MUST(place && sscanf(place, "': line %lu, column %lu: ", &line, &column) == 2);
	MUST(line >= 1 && line <= count_lines(profile->text) && column >= 1 &&
	     column <= strlen(profile->text) + 1);
}

static void check_config(const struct config *config)
{
	MUST(config->network == NETWORK_INET || !config->host_ports.count);
	MUST(config->network == NETWORK_INET || !config->published_ports.count);
	MUST(config->host_ports.count <= MOST_PORTS && config->published_ports.count <= MOST_PORTS);
	vec_each(port, &config->host_ports)
		MUST(port->number >= 1 && port->number <= 65535);
	vec_each(port, &config->published_ports)
		MUST(port->number >= 1 && port->number <= 65535);
	vec_each(variable, &config->variables) {
		MUST(variable->origin.name &&
		     env_name_valid(variable->name, strlen(variable->name)));
		MUST(!variable_row_find(reserved_variables, reserved_variable_count,
					variable->name));
		MUST(!variable->value || is_plain(variable->value));
	}
	vec_each(mount, &config->mounts) {
		MUST(mount->origin.name && *mount->source && is_plain(mount->source));
		MUST(!mount->destination || (*mount->destination && is_plain(mount->destination)));
	}
	vec_each(package, &config->packages)
		MUST(package->origin.name && package_name_valid(package->name));
	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		MUST(!config->limits[limit].value ||
		     (config->limits[limit].origin.name &&
		      config->limits[limit].value >= limit_table[limit].least &&
		      config->limits[limit].value <= limit_table[limit].most));
	MUST(!config->nixpkgs || (config->nixpkgs[0] != '-' && config->nixpkgs[0] != '.'));
}

static void check_settings(const struct config *config, struct arena *arena)
{
	profile_settings settings = profile_settings_list(arena, config, SETTING_IN_JSON);

	vec_each(setting, &settings) {
		json_t *value = profile_setting_json(setting);

		MUST(value && is_plain(setting->text) && setting->origin->place);
		MUST(str_starts(setting->origin->name, "profile "));
		if (setting->row->kind == PROFILE_CHOICE)
			MUST(profile_choice(setting->row, value) < setting->row->choice_count);
		json_decref(value);
	}
}

static void try_chain(const struct profile *profiles, size_t count)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	struct config config = { 0 };
	profile_chain chain = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < count; i++) {
		vec_push(&arena, &chain, profiles[i]);
		ok = profile_parse(&chain.items[i], &error);
	}
	if (ok && profile_apply(&config, &arena, chain.items, count, &error)) {
		check_config(&config);
		check_settings(&config, &arena);
	} else {
		check_error(&error, profiles, count);
	}
	profile_release(&chain);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char base[] =
		"{\"name\": \"base\", \"network\": \"inet\", \"host_ports\": [80],"
		" \"env\": {\"A\": \"1\"}, \"extra_env_passthrough\": [\"B\"], \"packages\": [\"jq\"],"
		" \"mounts\": [{\"host\": \"~/x\"}, {\"host\": \"/y\", \"sandbox\": \"z\"}]}";
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	const char *text = arena_strndup(&arena, (const char *)data, size);
	struct profile chain[] = {
		{ .name = "base", .path = "~/base.json", .text = base },
		{ .name = "work", .path = "~/work.json", .text = text },
		{ .name = "base", .path = "~/base.json", .text = base },
	};
	static const struct json_step steps[] = { { .key = "mounts" },
						  { .index = 1 },
						  { .key = "host" } };
	struct position position;

	for (size_t depth = 0; depth <= ARRAY_SIZE(steps); depth++)
		if (locate(text, steps, depth, depth % 2 ? LOCATE_KEY : LOCATE_VALUE, &position))
			MUST(position.line >= 1 && position.column >= 1);
	if (profile_parse(&chain[1], &error)) {
		const char *extended = profile_extends(&arena, &chain[1]);

		MUST(!extended || profile_name_valid(extended));
		json_decref(chain[1].object);
		chain[1].object = NULL;
	} else {
		check_error(&error, &chain[1], 1);
	}
	try_chain(chain + 1, 1);
	try_chain(chain, 2);
	try_chain(chain + 1, 2);
	arena_free(&arena);
	return 0;
}
