// SPDX-License-Identifier: MIT
// Tests of the judgement of git operations that are not finished.
#include "check.h"

#include "base/arena.h"
#include "plan/guard/unfinished.h"

static struct arena arena;

static void test_lists(void)
{
	static const char *const rows[][2] = {
		{ "", NULL },
		{ "pick 1 exec\n", NULL },
		{ "pick 1\nexec make\n", "pick 1\n" },
		{ "x make\npick 1\n", "pick 1\n" },
		{ " \t x make\npick 1", "pick 1" },
		{ "exec\nx\n", "" },
		{ "exec\tmake\r\npick 1\r\n", "pick 1\r\n" },
		{ "executes 1\nxpick 1\n# exec make\n", NULL },
		{ "pick 1\nx a\npick 2\nexec b\n", "pick 1\npick 2\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(unfinished_without_commands(&arena, rows[i][0]), rows[i][1],
				  rows[i][0]);
}

static void test_strategies(void)
{
	static const struct {
		const char *text;
		bool harmless;
	} rows[] = {
		{ "", true },           { "ort\n", true },    { "octopus", true },
		{ "x/../evil", false }, { "../evil", false }, { "a b", false },
		{ "a;b", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(unfinished_strategy_is_harmless(rows[i].text) == rows[i].harmless,
			   rows[i].text);
}

static void test_options(void)
{
	CHECK(unfinished_options_are_harmless(&arena,
					      "[options]\n\tstrategy = ort\n\tedit = true\n"));
	CHECK(!unfinished_options_are_harmless(&arena, "[options]\n\tstrategy = x/../evil\n"));
	CHECK(unfinished_apply_is_harmless(&arena, " '-p1' '--whitespace=fix'\n"));
	CHECK(unfinished_apply_is_harmless(&arena, ""));
	CHECK(!unfinished_apply_is_harmless(&arena, " '--unsafe-paths'"));
	CHECK(!unfinished_apply_is_harmless(&arena, " '-p1' '--directory=../..'"));
}

int main(void)
{
	test_lists();
	test_strategies();
	test_options();
	arena_free(&arena);
	return check_done();
}
