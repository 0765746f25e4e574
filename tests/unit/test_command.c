// SPDX-License-Identifier: MIT
// Tests of claude's command line: its own sandbox is switched off where it cannot work.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"

#include <string.h>

static struct arena arena;

// Returns claude's arguments after its name and the permission option, and whether a warning was
// added.
static const char *render_arguments(bool nested, const char *const *arguments)
{
	struct text out = { .arena = &arena };
	struct world world;

	world_debian(&world);
	world.config.nested = nested;
	world.config.nested_origin = origin_requested("profile x");
	world_arguments(&world, arguments);
	CHECK(world_plan(&world));
	for (size_t i = 2; i < world.plan.command.count; i++)
		text_printf(&out, "%s|", world.plan.command.items[i]);
	vec_each(warning, &world.plan.warnings)
		text_add(&out,
			 strstr(warning->text, "'--settings' cannot be merged") ? "warned" : "");
	world_free(&world);
	return text_get(&out);
}

// Without user namespaces Claude's own sandbox is off. The rest of the user's --settings is
// unchanged.
static void test_sandbox(void)
{
	static const char *const rows[][4] = {
		{ "--settings|{\"sandbox\":{\"enabled\":false}}|-p|", "-p" },
		{ "--settings|{\"sandbox\":{\"enabled\":false}}|--|--settings|", "--",
		  "--settings" },
		{ "--settings|{\"a\":1,\"sandbox\":{\"enabled\":false}}|-p|", "--settings",
		  "{\"a\": 1}", "-p" },
		{ "--settings={\"sandbox\":{\"enabled\":false,\"x\":2}}|",
		  "--settings={\"sandbox\": {\"enabled\": true, \"x\": 2}}" },
		{ "--settings|{\"sandbox\":{\"enabled\":false}}|", "--settings",
		  "{\"sandbox\": 3}" },
		{ "--settings|file.json|warned", "--settings", "file.json" },
		{ "--settings=file.json|warned", "--settings=file.json" },
		{ "--settings|{\"sandbox\":{\"enabled\":false}}|--settings|", "--settings" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const arguments[] = { rows[i][1], rows[i][2], rows[i][3], NULL };

		CHECK_CASE_STRING(render_arguments(false, arguments), rows[i][0], rows[i][1]);
	}
	CHECK_STRING(render_arguments(true, (const char *const[]){ "-p", NULL }), "-p|");
}

int main(void)
{
	test_sandbox();
	arena_free(&arena);
	return check_done();
}
