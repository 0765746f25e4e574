// SPDX-License-Identifier: MIT
// Versions, the names of today's layout and Claude's, and the plan for a flat state.
#include "base/arena.h"
#include "base/error.h"
#include "check.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/upgrade.h"

#include <string.h>

static struct arena arena;

static void test_versions(void)
{
	static const struct {
		const char *text;
		const char *record;
		bool accepted;
	} rows[] = {
		{ NULL, NULL, true },
		{ "1\n", NULL, true },
		{ "1", NULL, true },
		{ "0\n", NULL, true },
		{ "2\n", NULL, false },
		{ "4294967297\n", NULL, false },
		{ "99999999999999999999999\n", NULL, false },
		{ "", NULL, false },
		{ "\n", NULL, false },
		{ "x", NULL, false },
		{ "1\n\n", NULL, false },
		{ "1", "{\"version\": 1}", true },
		{ "1", "{\"version\": 2}", false },
		{ "1", "nonsense", true }, // it is written anew
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct state_facts state = { .root = "/home/user/.claudebox",
					     .version = rows[i].text,
					     .record = rows[i].record };
		struct error error = { .arena = &arena };

		CHECK_CASE(upgrade_refuse_later(&state, &error) == rows[i].accepted,
			   rows[i].text ? rows[i].text : "none");
		CHECK_CASE(rows[i].accepted || error.hint, "a refusal has a hint");
	}
}

static void test_names(void)
{
	static const char *const today[] = { "instances", "packages",     "gcroots",
					     "sign-in",   "sign-in.base", "sign-in.lock",
					     "profiles",  "version",      "backup-20240101-000000",
					     BACKUP_BEGUN };
	static const char *const claudes[] = { ".claude.json", ".credentials.json", "projects",
					       "backups",      "plugins",           "CLAUDE.md",
					       "sessions" };

	for (size_t i = 0; i < ARRAY_SIZE(today); i++)
		CHECK_CASE(upgrade_keeps_name(today[i]), today[i]);
	for (size_t i = 0; i < ARRAY_SIZE(claudes); i++)
		CHECK_CASE(!upgrade_keeps_name(claudes[i]), claudes[i]);
	for (size_t i = 0; i < flat_mark_count; i++)
		CHECK_CASE(!upgrade_keeps_name(flat_marks[i]), flat_marks[i]);
	CHECK_STRING(upgrade_slug(&arena, "/home/u/a_b.c d"), "-home-u-a-b-c-d");
	CHECK_STRING(upgrade_slug(&arena, "/\xc3\xa9x"), "--x");
	CHECK_STRING(upgrade_slug(&arena, "/\xf0\x9f\x98\x80"), "---");
}

static void test_places(void)
{
	static const struct {
		const char *text;
		const char *place;
	} rows[] = {
		{ "", NULL },
		{ "{\"cwd\": \"/a/b\"}", "/a/b" },
		{ "{\"cwd\": \"/a-b\"}", "/a-b" },
		{ "{\"type\": \"summary\"}\nnonsense\n{\"cwd\": \"/a/b\"}\n", "/a/b" },
		{ "{\"cwd\": \"/x\"}\n{\"cwd\": \"/a/b\"}\n",
		  "/a/b" }, // it had gone elsewhere before
		{ "{\"cwd\": \"/x\"}\n", NULL },
		{ "{\"cwd\": \"a/b\"}\n", NULL },
		{ "{\"cwd\": \"/a/./b\"}\n", NULL },
		{ "{\"cwd\": 7}\n{\"cwd\": null}\n[]\n", NULL },
	};
	char path[300] = "/";
	const char *line;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(upgrade_place(&arena, rows[i].text, "-a-b"), rows[i].place,
				  rows[i].text);
	memset(path + 1, 'x', sizeof(path) - 2);
	line = arena_printf(&arena, "{\"cwd\": \"%s\"}", path);
	CHECK_STRING(upgrade_place(&arena, line, arena_printf(&arena, "-%.199s-1abc", path + 1)),
		     path);
}

static void add_part(struct world *world, const char *root, const char *path)
{
	struct flat_part part = { .conversation = true, .root = root };

	vec_push(&world->arena, &part.paths, path);
	vec_push(&world->arena, &world->facts.state.flat.parts, part);
}

static void make_flat(struct world *world)
{
	static const char *const names[] = { "projects", ".credentials.json", "settings.json",
					     "x\ny" };
	struct flat_facts *flat = &world->facts.state.flat;

	world_debian(world);
	world->facts.user_claude.has_credentials = false;
	*flat = (struct flat_facts){ .found = true,
				     .date = "20240102-030405",
				     .credentials = "{\"claudeAiOauth\": {}, \"mcpOAuth\": {}}" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		vec_push(&world->arena, &flat->entries, names[i]);
	add_part(world, PROJECT, "projects/a/1.jsonl");
	add_part(world, PROJECT, "projects/a/2.jsonl");
	add_part(world, "/other", "projects/b/3.jsonl");
	add_part(world, NULL, "projects/c/4.jsonl");
}

static void test_plan(void)
{
	struct world world;
	const struct plan_upgrade *upgrade = &world.plan.state.upgrade;

	make_flat(&world);
	CHECK(world_plan(&world));
	CHECK(upgrade->needed && upgrade->copies.count == 3 && upgrade->instances.count == 2);
	CHECK_STRING(upgrade->copies.items[2].instance, instance_id(&arena, "/other"));
	CHECK_STRING(upgrade->backup, "backup-20240102-030405");
	CHECK(upgrade->moves.count == 4 && upgrade->notes.count == 3);
	CHECK_STRING(upgrade->credentials, "{\"claudeAiOauth\":{}}\n");
	CHECK_STRING(world.plan.state.new_version, STATE_VERSION_TEXT);
	vec_each(sentence, &upgrade->notes)
		CHECK_CASE(!strchr(*sentence, '\n'), "a name cannot start a line");
	CHECK(strstr(upgrade->notes.items[2], "1 conversation whose") &&
	      strstr(upgrade->notes.items[2], "settings.json") &&
	      !strstr(upgrade->notes.items[2], "projects,"));
	world_free(&world);

	make_flat(&world);
	world.facts.user_claude.has_credentials = true;
	CHECK(world_plan(&world) && !upgrade->credentials);
	world_free(&world);

	world_debian(&world);
	world.facts.state.version = STATE_VERSION_TEXT;
	CHECK(world_plan(&world) && !upgrade->needed && !world.plan.state.new_version);
	world_free(&world);
}

int main(void)
{
	test_versions();
	test_names();
	test_places();
	test_plan();
	arena_free(&arena);
	return check_done();
}
