// SPDX-License-Identifier: MIT
// Requested packages: names, invalid lines, and the stored answers.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/names.h"
#include "plan/nix/requested.h"

static struct arena arena;

static const char *joined(const strings *list)
{
	struct text out = { .arena = &arena };

	vec_each(item, list)
		text_printf(&out, "<%s>", *item);
	return text_get(&out);
}

static void test_names(void)
{
	static const char *const good[] = {
		"jq", "python3Packages.black", "gtk+", "a-b_c", "_x", "7zz", "libstdc++"
	};
	static const char *const bad[] = { "",   "-x",  ".x",    "x.", "a..b", "a b",  "a/b", "a;b",
					   "$x", "a#b", "a^out", "é",  "a\nb", "a\"b", "a'b", "*" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(package_name_valid(good[i]), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!package_name_valid(bad[i]), bad[i]);
}

static void test_lists(void)
{
	static const char *const rows[][3] = {
		{ "", "", "" },
		{ "jq", "<jq>", "" },
		{ "jq\n\nfd\n", "<jq><fd>", "" },
		{ "# all\n  jq # one\r\n\tfd\t\n", "<jq><fd>", "" },
		{ "jq\njq\n", "<jq>", "" },
		{ "a b\n-x\nok\n", "<ok>", "<a b><-x>" },
		{ "#", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct requested requested = requested_parse(&arena, rows[i][0]);

		CHECK_CASE_STRING(joined(&requested.packages), rows[i][1], rows[i][0]);
		CHECK_CASE_STRING(joined(&requested.invalid), rows[i][2], rows[i][0]);
	}
	CHECK(requested_parse(&arena, NULL).packages.count == 0);
}

static void test_bounds(void)
{
	struct text many = { .arena = &arena };

	for (int i = 0; i < 1000; i++)
		text_printf(&many, "tool%d\n!%d\n", i, i);
	CHECK(requested_parse(&arena, text_get(&many)).packages.count == 50);
	CHECK(requested_parse(&arena, text_get(&many)).invalid.count == 5);
}

static void test_answers(void)
{
	struct requested one = requested_parse(&arena, "jq\nfd\n");
	struct requested other = requested_parse(&arena, "jq\n");
	const char *yes = requested_render_answer(&arena, &one.packages, REQUESTED_YES);
	const char *no = requested_render_answer(&arena, &one.packages, REQUESTED_NO);

	CHECK(requested_parse_answer(&arena, &one.packages, yes) == REQUESTED_YES);
	CHECK(requested_parse_answer(&arena, &one.packages, no) == REQUESTED_NO);
	CHECK(requested_parse_answer(&arena, &other.packages, yes) == REQUESTED_UNKNOWN);
	CHECK(requested_parse_answer(&arena, &one.packages, NULL) == REQUESTED_UNKNOWN);
	CHECK(requested_parse_answer(&arena, &one.packages, "yes\n") == REQUESTED_UNKNOWN);
}

int main(void)
{
	test_names();
	test_lists();
	test_bounds();
	test_answers();
	arena_free(&arena);
	return check_done();
}
