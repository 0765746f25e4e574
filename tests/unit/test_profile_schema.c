// SPDX-License-Identifier: MIT
// The schema of a profile: every row is complete, its example is valid, and its setting is listed.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"

static struct arena arena;

// Applies "work", or "base" and "work".
static bool apply(struct config *config, const char *const *texts, struct error *error)
{
	profile_chain chain = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && texts[i]; i++) {
		const char *name = texts[i + 1] ? "base" : "work";

		vec_push(&arena, &chain, (struct profile){ name, name, texts[i] });
		ok = profile_parse(&chain.items[i], error);
	}
	ok = ok && profile_apply(config, &arena, chain.items, chain.count, error);
	profile_release(&chain);
	return ok;
}

// Checks what the manual, the merge and the displays need of a row.
static void check_row(const struct profile_row *row)
{
	static const size_t sizes[PROFILE_KIND_COUNT] = {
		[PROFILE_STRING] = sizeof(const char *),
		[PROFILE_CHOICE] = sizeof(unsigned int),
		[PROFILE_CHOICES] = sizeof(unsigned int),
		[PROFILE_BOOLEAN] = sizeof(bool),
		[PROFILE_NUMBER] = sizeof(unsigned long long),
		[PROFILE_PORTS] = sizeof(ports),
	};
	bool list = row->kind == PROFILE_PORTS || row->kind == PROFILE_STRINGS ||
		    row->kind == PROFILE_OBJECTS || row->kind == PROFILE_VARIABLES ||
		    row->kind == PROFILE_CHOICES;
	bool choice = row->kind == PROFILE_CHOICE || row->kind == PROFILE_CHOICES;
	bool text = row->kind == PROFILE_STRING || row->kind == PROFILE_STRINGS ||
		    row->kind == PROFILE_VARIABLES;
	bool object = row->kind == PROFILE_OBJECTS || row->kind == PROFILE_OBJECT;

	CHECK_CASE((row->kind == PROFILE_NUMBER) == (row->range != NULL), row->key);
	CHECK_CASE(row->help && str_ends(row->help, "."), row->key);
	CHECK_CASE(list == (row->most > 0) && text == (row->longest > 0), row->key);
	CHECK_CASE(choice == (row->choice_count > 0), row->key);
	CHECK_CASE(object == (row->entry != NULL && row->entry_count > 0), row->key);
	CHECK_CASE(!row->value || row->value_size == sizes[row->kind], row->key);
	CHECK_CASE(!row->origin || (row->value && !row->apply), row->key);
}

// Checks that the example is valid, in a profile with this text before and after it.
static void check_example(const struct profile_row *row, const char *before, const char *after)
{
	const char *whole =
		arena_printf(&arena, "%s\"%s\": %s%s", before, row->key, row->example, after);
	const char *const texts[] = { whole, NULL };
	struct error error = { .arena = &arena };
	struct config config = { 0 };

	CHECK_CASE_STRING(apply(&config, texts, &error) ? "good" : error.message, "good", whole);
}

static void test_schema(void)
{
	for (size_t i = 0; i < profile_table_count; i++) {
		const struct profile_row *row = &profile_table[i];

		check_row(row);
		CHECK_CASE(row->merge == MERGE_OWN || row->origin || row->apply, row->key);
		check_example(row, row->kind == PROFILE_PORTS ? "{\"network\": \"inet\", " : "{",
			      "}");
	}
	for (size_t i = 0; i < profile_mount_table_count; i++) {
		check_row(&profile_mount_table[i]);
		check_example(&profile_mount_table[i],
			      i > 0 ? "{\"mounts\": [{\"host\": \"x\", " : "{\"mounts\": [{",
			      "}]}");
	}
	for (size_t i = 0; i < LIMIT_KEY_COUNT; i++) {
		CHECK_STRING(profile_limit_table[i].key, limit_table[i].name);
		check_row(&profile_limit_table[i]);
		check_example(&profile_limit_table[i], "{\"limits\": {", "}}");
	}
}

// Every setting that differs from its default is listed with its value and origin, for every output
// that has no code of its own for it.
static void test_settings(void)
{
	static const char *const texts[] = {
		"{\"network\": \"none\", \"nixpkgs\": \"x\", \"nix_daemon\": true, \"nested\": true,"
		" \"project\": \"read-only\", \"terminal\": \"direct\", \"confirm\": \"never\"}",
		"{\"nested\": false, \"confirm\": \"changed\"}", NULL
	};
	static const struct {
		enum setting_output output;
		const char *wanted;
	} rows[] = {
		{ SETTING_IN_JSON,
		  "network=none (profile base)\nnixpkgs=x (profile base)\nnix_daemon=true (profile base)\n"
		  "project=read-only (profile base)\nterminal=direct (profile base)\n"
		  "confirm=changed (profile work)\n" },
		{ SETTING_IN_APPROVAL, "terminal=direct (profile base)\n" },
		{ SETTING_IN_AUDIT, "" },
		{ SETTING_IN_DRY_RUN, "" },
	};
	struct error error = { .arena = &arena };
	struct config config = { 0 };

	CHECK(!profile_settings_list(&arena, &config, SETTING_IN_JSON).count);
	CHECK(apply(&config, texts, &error));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		profile_settings settings = profile_settings_list(&arena, &config, rows[i].output);
		struct text out = { .arena = &arena };

		vec_each(setting, &settings) {
			json_t *value = profile_setting_json(setting);

			text_printf(&out, "%s=%s (%s)\n", setting->row->key, setting->text,
				    setting->origin->name);
			CHECK_CASE(setting->row->kind == PROFILE_BOOLEAN
					   ? json_is_true(value)
					   : str_equal(json_string_value(value), setting->text),
				   setting->row->key);
			CHECK_CASE(setting->origin->place, setting->row->key);
			json_decref(value);
		}
		CHECK_STRING(text_get(&out), rows[i].wanted);
	}
}

int main(void)
{
	test_schema();
	test_settings();
	arena_free(&arena);
	return check_done();
}
