// SPDX-License-Identifier: MIT
// Fuzzes the profile parser: a profile alone, and as the base of another. No crash, no hang, and all invariants hold.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/locate.h"
#include "config/names.h"
#include "config/profile.h"
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

// The message is one line, and its position lies in the text.
static void check_error(const struct error *error, const struct profile_text *chain, size_t count)
{
	const struct profile_text *profile = chain;
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
	MUST(config->network < NETWORK_TIER_COUNT && config->confirm < CONFIRM_COUNT &&
	     config->terminal < TERMINAL_MODE_COUNT);
	MUST(config->network == NETWORK_INET || !config->host_ports.count);
	MUST(config->network == NETWORK_INET || !config->published_ports.count);
	MUST(config->host_ports.count <= MOST_PORTS && config->published_ports.count <= MOST_PORTS);
	vec_each(port, &config->host_ports)
		MUST(port->number >= 1 && port->number <= 65535);
	vec_each(port, &config->published_ports)
		MUST(port->number >= 1 && port->number <= 65535);
	vec_each(variable, &config->variables) {
		MUST(variable->origin && env_name_valid(variable->name, strlen(variable->name)));
		MUST(!variable_row_find(reserved_variables, reserved_variable_count,
					variable->name));
		MUST(!variable->value || is_plain(variable->value));
	}
	vec_each(mount, &config->mounts) {
		MUST(mount->origin && *mount->source && is_plain(mount->source));
		MUST(!mount->destination || (*mount->destination && is_plain(mount->destination)));
	}
	vec_each(package, &config->packages)
		MUST(package->origin && package_name_valid(package->name));
	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		MUST(!config->limits[limit].value ||
		     (config->limits[limit].origin &&
		      config->limits[limit].value >= limit_table[limit].least &&
		      config->limits[limit].value <= limit_table[limit].most));
	MUST(!config->nixpkgs ||
	     (is_plain(config->nixpkgs) && config->nixpkgs[0] != '-' && config->nixpkgs[0] != '.'));
}

static void try_chain(const struct profile_text *chain, size_t count)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	struct config config = { 0 };

	if (profile_apply(&config, &arena, chain, count, &error))
		check_config(&config);
	else
		check_error(&error, chain, count);
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
	struct profile_text chain[] = {
		{ .name = "base", .path = "~/base.json", .text = base },
		{ .name = "work", .path = "~/work.json", .text = text },
		{ .name = "base", .path = "~/base.json", .text = base },
	};
	static const struct json_step steps[] = { { .key = "mounts" },
						  { .index = 1 },
						  { .key = "host" } };
	struct position position;
	const char *extended = NULL;

	for (size_t depth = 0; depth <= ARRAY_SIZE(steps); depth++)
		if (locate(text, steps, depth, depth % 2 ? LOCATE_KEY : LOCATE_VALUE, &position))
			MUST(position.line >= 1 && position.column >= 1);
	if (profile_extends(&arena, &chain[1], &extended, &error))
		MUST(!extended || profile_name_valid(extended));
	else
		check_error(&error, &chain[1], 1);
	try_chain(chain + 1, 1);
	try_chain(chain, 2);
	try_chain(chain + 1, 2);
	arena_free(&arena);
	return 0;
}
