// SPDX-License-Identifier: MIT
// Patterns of directories.
#include "base/arena.h"
#include "base/pattern.h"
#include "base/text.h"
#include "check.h"

#include <string.h>
#include <time.h>

static struct arena arena;

static void test_matches(void)
{
	static const struct {
		const char *pattern;
		const char *path;
		bool matches;
	} rows[] = {
		// Without a wildcard: that directory alone.
		{ "/w", "/w", true },
		{ "/w", "/w/a", false },
		{ "/w", "/", false },
		{ "/w", "/W", false },
		{ "/w", "/wx", false },
		{ "/w/", "/w", true },
		{ "//w///a/", "/w/a", true },
		{ "/", "/", true },
		{ "/", "/a", false },
		// "**": any depth, none included.
		{ "/w/**", "/w", true },
		{ "/w/**", "/w/a", true },
		{ "/w/**", "/w/a/b/c", true },
		{ "/w/**", "/wx/a", false },
		{ "/w/**", "/", false },
		{ "/**", "/", true },
		{ "/**", "/a/b", true },
		{ "/**/x", "/x", true },
		{ "/**/x", "/a/b/x", true },
		{ "/**/x", "/a/x/b", false },
		{ "/w/**/x", "/w/x", true },
		{ "/w/**/x", "/w/a/x/b/x", true },
		{ "/w/**/x/**", "/w/a/x/b", true },
		{ "/w/**/**", "/w", true },
		{ "/**/a/**/b", "/a/x/b/a/b/c", false },
		{ "/**/a/b", "/a/a/b", true },
		// '*': a part of one name, hidden names included.
		{ "/w/*", "/w", false },
		{ "/w/*", "/w/a", true },
		{ "/w/*", "/w/.a", true },
		{ "/w/*", "/w/a/b", false },
		{ "/w/*/x", "/w/a/x", true },
		{ "/w/*/x", "/w/a/b/x", false },
		{ "/w/a*", "/w/a", true },
		{ "/w/a*c", "/w/abbc", true },
		{ "/w/a*c", "/w/abcb", false },
		{ "/w/*a*b*", "/w/xxayybzz", true },
		{ "/w/*a*b*", "/w/xxbyyazz", false },
		{ "/w/*ab", "/w/aab", true },
		{ "/w/*/**", "/w", false },
		{ "/w/*/**", "/w/a", true },
		// Every other byte stands for itself.
		{ "/w/a?", "/w/ab", false },
		{ "/w/a?", "/w/a?", true },
		{ "/w/[ab]", "/w/a", false },
		{ "/w/[ab]", "/w/[ab]", true },
		{ "/w/\\*", "/w/*", false },
		{ "/w/a b\xc3\xa4", "/w/a b\xc3\xa4", true },
		{ "/w/*", "/w/\xff\x01\n", true },
		{ "/w/a", "/w/a\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(pattern_matches(rows[i].pattern, rows[i].path) == rows[i].matches,
			   arena_printf(&arena, "%s %s %s", rows[i].pattern,
					rows[i].matches ? "matches" : "does not match",
					rows[i].path));
}

static void test_more_exact(void)
{
	static const char *const rows[][2] = {
		{ "/w/a/**", "/w/**" }, { "/w", "/w/**" },       { "/w/*", "/w/**" },
		{ "/w/a", "/w/*" },     { "/w/a*", "/w/*" },     { "/w/*/x", "/w/*" },
		{ "/w/**", "/**" },     { "/w/aa/**", "/w/a*" }, { "/w/**/x", "/w/**" },
	};
	static const char *const equal[][2] = {
		{ "/w/**", "/w/**/" }, { "/w/**", "//w/**" }, { "/w/**", "/w/**/**" },
		{ "/w/a*", "/w/*a" },  { "/w/*", "/w/*/" },   { "/**/a/b", "/a/**/b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(pattern_weight(rows[i][0]) > pattern_weight(rows[i][1]),
			   arena_printf(&arena, "%s before %s", rows[i][0], rows[i][1]));
	for (size_t i = 0; i < ARRAY_SIZE(equal); i++)
		CHECK_CASE(pattern_weight(equal[i][0]) == pattern_weight(equal[i][1]),
			   arena_printf(&arena, "%s as %s", equal[i][0], equal[i][1]));
}

static void test_beginning(void)
{
	static const char *const rows[][3] = {
		{ "/w/a", "/w/a", "" }, { "/w/**", "/w", "/**" },
		{ "/**", "/", "/**" },  { "/w/a*/b", "/w", "/a*/b" },
		{ "/*", "/", "/*" },    { "/w/a/*/b/*", "/w/a", "/*/b/*" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *rest;

		CHECK_CASE_STRING(pattern_beginning(&arena, rows[i][0], &rest), rows[i][1],
				  rows[i][0]);
		CHECK_CASE_STRING(rest, rows[i][2], rows[i][0]);
	}
}

static void test_problems(void)
{
	static const struct {
		const char *pattern;
		const char *problem; // a part of it, NULL: none
	} rows[] = {
		{ "~", NULL },
		{ "~/", NULL },
		{ "~/work/**", NULL },
		{ "/", NULL },
		{ "/srv/*/x", NULL },
		{ "~/...", NULL },
		{ "~/..a/b..", NULL },
		{ "", "not a full path" },
		{ "work/**", "not a full path" },
		{ "**", "not a full path" },
		{ "./x", "not a full path" },
		{ "~ann/x", "another user" },
		{ "~**", "another user" },
		{ "~/..", "'..'" },
		{ "/a/../b", "'..'" },
		{ "/a/./b", "'.'" },
		{ "/a/b**", "whole name" },
		{ "/a/**b/c", "whole name" },
		{ "/a/***", "whole name" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *problem = pattern_problem(rows[i].pattern);

		CHECK_CASE(rows[i].problem ? problem && strstr(problem, rows[i].problem) : !problem,
			   rows[i].pattern);
	}
}

// A pattern for which a recursive matcher would take years.
static void test_takes_no_exponential_time(void)
{
	struct text pattern = { .arena = &arena };
	struct text path = { .arena = &arena };
	clock_t start = clock();

	for (int i = 0; i < 1000; i++)
		text_add(&pattern, i % 2 ? "/**" : "/*a*a*a*");
	text_add(&pattern, "/b");
	for (int i = 0; i < 40; i++) {
		text_add(&path, "/");
		for (int k = 0; k < 100; k++)
			text_add(&path, "a");
	}
	CHECK(!pattern_matches(text_get(&pattern), text_get(&path)));
	CHECK((clock() - start) / CLOCKS_PER_SEC < 2);
}

int main(void)
{
	test_matches();
	test_more_exact();
	test_beginning();
	test_problems();
	test_takes_no_exponential_time();
	arena_free(&arena);
	return check_done();
}
