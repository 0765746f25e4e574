// SPDX-License-Identifier: MIT
// Valid profiles: every key, extended profiles, the command line, the manual and the shipped
// examples.
#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/options/options.h"
#include "config/options/table.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "config/profile/manual.h"
#include "config/profile/schema.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void show_ports(struct text *out, const char *label, const ports *list)
{
	vec_each(port, list)
		text_printf(out, "%s %u (%s)\n", label, port->number, port->origin.name);
}

static const char *describe(const struct config *config)
{
	struct text out = { .arena = &arena };

	if (config->network || config->network_origin.name)
		text_printf(&out, "network %s (%s)\n", network_tier_names[config->network],
			    config->network_origin.name);
	show_ports(&out, "host port", &config->host_ports);
	show_ports(&out, "publish", &config->published_ports);
	vec_each(variable, &config->variables)
		text_printf(&out, "%s%s%s (%s)\n", variable->name, variable->value ? "=" : "",
			    variable->value ? variable->value : "", variable->origin.name);
	vec_each(mount, &config->mounts)
		text_printf(&out, "mount %s%s%s %s (%s)\n", mount->source,
			    mount->destination ? " at " : "",
			    mount->destination ? mount->destination : "",
			    mount->writable ? "rw" : "ro", mount->origin.name);
	vec_each(package, &config->packages)
		text_printf(&out, "package %s (%s)\n", package->name, package->origin.name);
	if (config->nixpkgs)
		text_printf(&out, "nixpkgs %s\n", config->nixpkgs);
	if (config->nix_daemon)
		text_add(&out, "nix daemon\n");
	if (config->nested)
		text_printf(&out, "nested (%s)\n", config->nested_origin.name);
	if (config->project == PROJECT_READ_ONLY)
		text_add(&out, "project read-only\n");
	if (config->terminal)
		text_printf(&out, "terminal %s\n", terminal_mode_names[config->terminal]);
	for (int limit = 0; limit < LIMIT_KEY_COUNT; limit++)
		if (config->limits[limit].value)
			text_printf(&out, "limit %s %s (%s)\n", limit_table[limit].name,
				    limit_render(&arena, (enum limit)limit,
						 config->limits[limit].value),
				    config->limits[limit].origin.name);
	if (config->confirm)
		text_printf(&out, "confirm %s\n", confirm_names[config->confirm]);
	return text_get(&out);
}

enum { MOST_LAYERS = 3 };

// Applies the profiles "a", "b" and "c", the base first. Returns the configuration or the error
// as text.
static const char *apply(struct config *config, const char *const *texts)
{
	static const char *const names[MOST_LAYERS] = { "a", "b", "c" };
	struct error error = { .arena = &arena };
	profile_chain chain = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < MOST_LAYERS && texts[i]; i++) {
		vec_push(&arena, &chain, (struct profile){ names[i], names[i], texts[i] });
		ok = profile_parse(&chain.items[i], &error);
	}
	ok = ok && profile_apply(config, &arena, chain.items, chain.count, &error);
	profile_release(&chain);
	return ok ? describe(config) : arena_printf(&arena, "%s\n", error.message);
}

// Parses and applies one profile.
static bool apply_one(struct config *config, struct profile profile, struct error *error)
{
	profile_chain chain = { 0 };
	bool ok;

	vec_push(&arena, &chain, profile);
	ok = profile_parse(&chain.items[0], error) &&
	     profile_apply(config, &arena, chain.items, 1, error);
	profile_release(&chain);
	return ok;
}

static void test_keys(void)
{
	static const char *const rows[][2] = {
		{ "{}", "" },
		{ "{\"name\": \"a\", \"description\": \"\xc3\xa4 \xf0\x9f\x98\x80\", \"extends\": \"x\"}",
		  "" },
		{ "{\"network\": \"full\"}", "network full (profile a)\n" },
		{ "{\"network\": \"inet\"}", "network inet (profile a)\n" },
		{ "{\"network\": \"none\", \"publish\": []}", "network none (profile a)\n" },
		{ "{\"host_ports\": [1, 65535, 1], \"network\": \"inet\", \"publish\": [80]}",
		  "network inet (profile a)\nhost port 1 (profile a)\nhost port 65535 (profile a)\npublish 80 (profile a)\n" },
		{ "{\"env\": {\"B\": \"\", \"A\": \"x=y z\"}}",
		  "B= (profile a)\nA=x=y z (profile a)\n" },
		{ "{\"extra_env_passthrough\": [\"GH_TOKEN\", \"_x\", \"GH_TOKEN\"]}",
		  "GH_TOKEN (profile a)\n_x (profile a)\n" },
		{ "{\"mounts\": []}", "" },
		{ "{\"mounts\": [{\"host\": \"~/x\"}]}", "mount ~/x ro (profile a)\n" },
		{ "{\"mounts\": [{\"mode\": \"rw\", \"sandbox\": \"/y\", \"host\": \"../x\"}]}",
		  "mount ../x at /y rw (profile a)\n" },
		{ "{\"mounts\": [{\"host\": \"/x\", \"mode\": \"ro\"}, {\"host\": \"x\"},"
		  " {\"host\": \"~/x\"}, {\"host\": \"~/../x\"}]}",
		  "mount /x ro (profile a)\nmount x ro (profile a)\nmount ~/x ro (profile a)\n"
		  "mount ~/../x ro (profile a)\n" },
		{ "{\"packages\": [\"jq\", \"a.b-c_d+e\", \"jq\"]}",
		  "package jq (profile a)\npackage a.b-c_d+e (profile a)\n" },
		{ "{\"nixpkgs\": \"nixpkgs\"}", "nixpkgs nixpkgs\n" },
		{ "{\"nixpkgs\": \"github:NixOS/nixpkgs/abc?dir=x&y=%20\"}",
		  "nixpkgs github:NixOS/nixpkgs/abc?dir=x&y=%20\n" },
		{ "{\"nixpkgs\": \"/srv/nixpkgs\"}", "nixpkgs /srv/nixpkgs\n" },
		{ "{\"nixpkgs\": \"path:/srv/nixpkgs\"}", "nixpkgs path:/srv/nixpkgs\n" },
		{ "{\"nixpkgs\": \"git+file:///srv/nixpkgs\"}",
		  "nixpkgs git+file:///srv/nixpkgs\n" },
		{ "{\"nix_daemon\": true}", "nix daemon\n" },
		{ "{\"nix_daemon\": false}", "" },
		{ "{\"nested\": true}", "nested (profile a)\n" },
		{ "{\"nested\": false}", "" },
		{ "{\"project\": \"read-only\"}", "project read-only\n" },
		{ "{\"project\": \"read-write\"}", "" },
		{ "{\"terminal\": \"direct\"}", "terminal direct\n" },
		{ "{\"terminal\": \"filtered\"}", "" },
		{ "{\"limits\": {}}", "" },
		{ "{\"limits\": {\"cpu\": \"50%\", \"pids\": 16, \"memory\": \"1.5G\"}}",
		  "limit memory 1536M (profile a)\nlimit pids 16 (profile a)\nlimit cpu 50% (profile a)\n" },
		{ "{\"confirm\": \"always\"}", "" },
		{ "{\"confirm\": \"changed\"}", "confirm changed\n" },
		{ "{\"confirm\": \"never\"}", "confirm never\n" },
		{ "\n{\"confi\\u0072m\" : \"nev\\u0065r\"}\n", "confirm never\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config = { 0 };
		const char *const texts[] = { rows[i][0], NULL };

		CHECK_CASE_STRING(apply(&config, texts), rows[i][1], rows[i][0]);
		CHECK_CASE_STRING(config.profile, "a", rows[i][0]);
	}
}

static void test_merge(void)
{
	static const struct {
		const char *texts[MOST_LAYERS + 1];
		const char *wanted;
	} rows[] = {
		{ { "{\"network\": \"none\", \"confirm\": \"never\", \"nix_daemon\": true}", "{}" },
		  "network none (profile a)\nnix daemon\nconfirm never\n" },
		{ { "{\"network\": \"none\", \"confirm\": \"never\", \"nix_daemon\": true}",
		    "{\"network\": \"full\", \"confirm\": \"always\", \"nix_daemon\": false}" },
		  "network full (profile b)\n" },
		{ { "{\"nested\": true}", "{}" }, "nested (profile a)\n" },
		{ { "{\"nested\": true}", "{\"nested\": false}" }, "" },
		{ { "{\"project\": \"read-only\", \"nixpkgs\": \"x\"}",
		    "{\"project\": \"read-write\"}", "{\"nixpkgs\": \"y\"}" },
		  "nixpkgs y\n" },
		{ { "{\"packages\": [\"a\", \"b\"]}", "{\"packages\": [\"b\", \"c\"]}",
		    "{\"packages\": [\"a\", \"d\"]}" },
		  "package a (profile a)\npackage b (profile a)\npackage c (profile b)\n"
		  "package d (profile c)\n" },
		{ { "{\"env\": {\"A\": \"1\", \"B\": \"1\"}}",
		    "{\"env\": {\"B\": \"2\", \"C\": \"2\"}}" },
		  "A=1 (profile a)\nB=2 (profile b)\nC=2 (profile b)\n" },
		{ { "{\"env\": {\"A\": \"1\"}, \"extra_env_passthrough\": [\"B\"]}",
		    "{\"env\": {\"B\": \"2\"}, \"extra_env_passthrough\": [\"A\"]}" },
		  "A (profile b)\nB=2 (profile b)\n" },
		{ { "{\"mounts\": [{\"host\": \"~/x\"}, {\"host\": \"/y\"}]}",
		    "{\"mounts\": [{\"host\": \"$HOME/x/\", \"mode\": \"rw\"}, {\"host\": \"/z\"}]}" },
		  "mount $HOME/x/ rw (profile b)\nmount /y ro (profile a)\nmount /z ro (profile b)\n" },
		{ { "{\"network\": \"inet\", \"publish\": [1, 2]}", "{\"publish\": [2, 3]}" },
		  "network inet (profile a)\npublish 1 (profile a)\npublish 2 (profile a)\npublish 3 (profile b)\n" },
		{ { "{\"publish\": [1], \"host_ports\": [2]}", "{\"network\": \"inet\"}" },
		  "network inet (profile b)\nhost port 2 (profile a)\npublish 1 (profile a)\n" },
		// Another tier drops the ports of the profiles before it, but not those of its own.
		{ { "{\"network\": \"inet\", \"publish\": [1], \"host_ports\": [2]}",
		    "{\"network\": \"none\"}" },
		  "network none (profile b)\n" },
		{ { "{\"network\": \"inet\"}", "{\"network\": \"none\", \"publish\": [1]}" },
		  "profile 'b': line 1, column 21: 'publish' requires network inet, not none\n" },
		{ { "{\"network\": \"none\"}", "{\"publish\": [1]}" },
		  "profile 'b': line 1, column 2: 'publish' requires network inet, not none\n" },
		{ { "{\"publish\": [1]}", "{}" },
		  "profile 'a': line 1, column 2: 'publish' requires network inet, not full\n" },
		{ { "{\"network\": \"inet\", \"publish\": [1,2,3,4,5,6,7,8,9,10]}",
		    "{\"publish\": [1, 11,12,13,14,15,16,\n17]}" },
		  "profile 'b': line 2, column 1: 'publish' has more than 16 entries\n" },
		{ { "{\"limits\": {\"memory\": \"1G\", \"pids\": 100}}",
		    "{\"limits\": {\"pids\": 200, \"cpu\": \"100%\"}}" },
		  "limit memory 1G (profile a)\nlimit pids 200 (profile b)\nlimit cpu 100% (profile b)\n" },
		{ { "{}", "{\"x\": 1}", "{" }, "profile 'b': line 1, column 2: unknown key 'x'\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config = { 0 };

		CHECK_CASE_STRING(apply(&config, rows[i].texts), rows[i].wanted,
				  arena_printf(&arena, "merge %zu", i));
	}
}

// The command line overrides the profile; lists are added to.
static void test_command_line(void)
{
	static const char *const profile[] = {
		"{\"network\": \"inet\", \"host_ports\": [1, 2], \"publish\": [3],"
		" \"mounts\": [{\"host\": \"~/x\"}, {\"host\": \"/y\"}], \"env\": {\"A\": \"1\"}}",
		NULL
	};
	char *arguments[] = { (char *)"claudebox", (char *)"--network",
			      (char *)"inet",      (char *)"--host-port",
			      (char *)"2",         (char *)"--host-port",
			      (char *)"9" };
	struct error error = { .arena = &arena };
	struct config config = { 0 };

	CHECK(options_parse(&config, &arena, ARRAY_SIZE(arguments), arguments, &error));
	vec_push(&arena, &config.mounts,
		 (struct config_mount){ .source = "/z",
					.destination = "~/x/",
					.writable = true,
					.origin = origin_requested("--mount-rw") });
	CHECK_STRING(
		apply(&config, profile),
		"network inet (--network)\nhost port 2 (--host-port)\nhost port 9 (--host-port)\nhost port 1 (profile a)\npublish 3 (profile a)\n"
		"A=1 (profile a)\nmount /z at ~/x/ rw (--mount-rw)\nmount /y ro (profile a)\n");
	CHECK(options_check(&config, &error));

	arguments[2] = (char *)"none";
	config = (struct config){ 0 };
	CHECK(options_parse(&config, &arena, 3, arguments, &error));
	CHECK_STRING(apply(&config, profile),
		     "network none (--network)\nA=1 (profile a)\nmount ~/x ro (profile a)\n"
		     "mount /y ro (profile a)\n");
	CHECK(options_check(&config, &error));

	// The ports of the command line are not dropped.
	config = (struct config){ 0 };
	CHECK(options_parse(&config, &arena, ARRAY_SIZE(arguments), arguments, &error));
	apply(&config, profile);
	CHECK(!options_check(&config, &error));
	CHECK_STRING(error.message, "option '--host-port' requires --network inet, not none");

	// Ports of the command line are valid with the tier of the profile.
	config = (struct config){ 0 };
	CHECK(options_parse(&config, &arena, 5,
			    (char *[]){ (char *)"claudebox", (char *)"--publish", (char *)"7",
					(char *)"--publish", (char *)"8" },
			    &error));
	apply(&config, profile);
	CHECK(options_check(&config, &error) && config.published_ports.count == 3);
}

static void test_nothing(void)
{
	struct config config = { .profile = NULL };
	struct error error = { .arena = &arena };
	struct profile profile = { "work", "work.json", "{\"extends\": \"base\"}" };

	CHECK(profile_apply(&config, &arena, NULL, 0, &error) && !config.profile);
	CHECK_STRING(describe(&config), "");
	CHECK(profile_parse(&profile, &error));
	CHECK_STRING(profile_extends(&arena, &profile), "base");
	CHECK(!profile_description(&arena, &profile));
	json_decref(profile.object);
	profile = (struct profile){ "work", "work.json", "{\"description\": \"x\"}" };
	CHECK(profile_parse(&profile, &error) && !profile_extends(&arena, &profile));
	CHECK_STRING(profile_description(&arena, &profile), "x");
	json_decref(profile.object);
	profile = (struct profile){ "work", "work.json", "{\"extends\": \"base\", \"x\": 1}" };
	CHECK(!profile_parse(&profile, &error) && !profile.object);
}

static const char *read_text(const char *name)
{
	const char *source = getenv("SOURCE");
	FILE *file = fopen(path_join(&arena, source ? source : ".", name), "re");
	char *text = arena_alloc(&arena, 65536);

	if (!file)
		return NULL;
	text[fread(text, 1, 65535, file)] = '\0';
	fclose(file);
	return text;
}

// doc/claudebox-profile.5.scd is generated from the table; UPDATE_GOLDEN=1 writes it.
static void test_manual(void)
{
	static const char name[] = "doc/claudebox-profile.5.scd";
	const char *manual = profile_render_manual(&arena);
	const char *source = getenv("SOURCE");

	if (getenv("UPDATE_GOLDEN")) {
		FILE *file = fopen(path_join(&arena, source ? source : ".", name), "we");

		CHECK(file && fputs(manual, file) >= 0 && fclose(file) == 0);
	}
	CHECK_STRING(read_text(name), manual);
	for (size_t i = 0; i < profile_table_count; i++)
		CHECK_CASE(strstr(manual, arena_printf(&arena, "\n*%s*:", profile_table[i].key)),
			   profile_table[i].key);
}

static void test_shipped(void)
{
	static const struct {
		const char *name;
		const char *wanted;
	} rows[] = {
		{ "offline", "network none (profile offline)\n" },
		{ "review", "network inet (profile review)\nproject read-only\n" },
		{ "work", "network inet (profile work)\nAWS_PROFILE=work (profile work)\n"
			  "MY_ORG_TOKEN (profile work)\nconfirm changed\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = arena_printf(&arena, "doc/profiles/%s.json", rows[i].name);
		struct profile profile = { rows[i].name, path, read_text(path) };
		struct error error = { .arena = &arena };
		struct config config = { 0 };
		bool ok = profile.text && apply_one(&config, profile, &error);

		CHECK_CASE_STRING(ok ? describe(&config) : error.message, rows[i].wanted, path);
	}
}

int main(void)
{
	test_keys();
	test_merge();
	test_command_line();
	test_nothing();
	test_manual();
	test_shipped();
	arena_free(&arena);
	return check_done();
}
