// SPDX-License-Identifier: MIT
// The version and the entries of the layout, and the plan for the upgrade of a flat state.
#include "base/arena.h"
#include "base/error.h"
#include "check.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/layout.h"
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
		{ "1", "nonsense", true }, // the record is written again
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct state_facts state = { .root = "/home/user/.claudebox",
					     .version = rows[i].text,
					     .record = rows[i].record };
		struct error error = { .arena = &arena };

		CHECK_CASE(layout_check_version(&state, &error) == rows[i].accepted,
			   rows[i].text ? rows[i].text : "none");
		CHECK_CASE(rows[i].accepted || error.hint, "a refusal has a hint");
	}
}

static void test_names(void)
{
	static const char *const current[] = {
		"instances", "packages",     "gcroots",
		"sign-in",   "sign-in.base", "sign-in.lock",
		"profiles",  "version",      "backup-20240101-000000",
		"searched",  "places",       FLAT_BACKUP
	};
	static const char *const earlier[] = {
		".claude.json",    ".credentials.json", "projects", "history.jsonl", "todos",
		"shell-snapshots", "backups",           "plugins",  "CLAUDE.md",     "sessions"
	};

	for (size_t i = 0; i < ARRAY_SIZE(current); i++)
		CHECK_CASE(layout_has_name(current[i]), current[i]);
	for (size_t i = 0; i < ARRAY_SIZE(earlier); i++)
		CHECK_CASE(!layout_has_name(earlier[i]), earlier[i]);
}

static void test_projects(void)
{
	static const struct {
		const char *text;
		const char *project;
	} rows[] = {
		{ NULL, "" },
		{ "", "" },
		{ "{\"cwd\": \"/a/b\"}", "/a/b" },
		{ "{\"type\": \"summary\"}\nnonsense\n{\"cwd\": \"/a/b\"}\n", "/a/b" },
		{ "{\"cwd\": \"/x\"}\n{\"cwd\": \"/a/b\"}\n", "/x" },
		{ "{\"message\": {\"cwd\": \"/x\"}}\n{\"cwd\": \"/a/b\"}\n", "/a/b" },
		{ "{\"cwd\": 7}\n{\"cwd\": null}\n[]\n", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(upgrade_find_project(&arena, rows[i].text), rows[i].project,
				  rows[i].text ? rows[i].text : "unreadable");
}

static void add_conversation(struct world *world, const char *root, const char *path)
{
	vec_push(&world->arena, &world->facts.state.flat.conversations,
		 (struct flat_conversation){ .path = path, .project = "/x", .root = root });
}

static void test_plan(void)
{
	struct world world;
	const struct plan_upgrade *upgrade = &world.plan.state.upgrade;

	world_debian(&world);
	world.facts.state.flat.found = true;
	add_conversation(&world, PROJECT, "projects/a/1.jsonl");
	add_conversation(&world, PROJECT, "projects/a/2.jsonl");
	add_conversation(&world, "/other", "projects/b/3.jsonl");
	add_conversation(&world, NULL, "projects/c/4.jsonl");
	CHECK(world_plan(&world));
	CHECK(upgrade->needed && upgrade->conversations.count == 4 && upgrade->notes.count == 2);
	CHECK_STRING(world.plan.state.new_version, STATE_VERSION_TEXT);
	CHECK(strstr(upgrade->notes.items[0], "moves to ~/.claudebox/" FLAT_BACKUP));
	CHECK(strstr(upgrade->notes.items[1], "3 of 4 conversations"));
	CHECK(strstr(upgrade->notes.items[1], "log in again"));
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
	test_projects();
	test_plan();
	arena_free(&arena);
	return check_done();
}
