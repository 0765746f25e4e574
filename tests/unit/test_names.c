// SPDX-License-Identifier: MIT
// Names of profiles and packages, and suggestions for misspelled names.
#include "base/arena.h"
#include "check.h"
#include "config/names.h"

#include <string.h>

static struct arena arena;

static const char *repeat(char c, size_t count)
{
	char *text = arena_alloc(&arena, count + 1);

	memset(text, c, count);
	return text;
}

static void test_profiles(void)
{
	static const char *const good[] = { "a", "work", "Work-2", "a.b", "a_b", "0", "a..b" };
	static const char *const bad[] = { "",         ".",  "..",  "../x", "a/b",   "/a",   "-a",
					   "_a",       ".a", "a b", " a",   "a\n",   "a\\b", "~",
					   "\xc3\xa4", "a*", "a:b", "a,b",  "a\x1b", "$a" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(profile_name_valid(good[i]), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!profile_name_valid(bad[i]), bad[i]);
	CHECK(profile_name_valid(repeat('a', LONGEST_PROFILE_NAME)));
	CHECK(!profile_name_valid(repeat('a', LONGEST_PROFILE_NAME + 1)));
}

static void test_packages(void)
{
	static const char *const good[] = { "jq",        "python3Packages.requests",
					    "gcc_multi", "libstdc++",
					    "a-b",       "0ad",
					    "a.b.c",     "_7zz" };
	static const char *const bad[] = { "",       ".",        "a.",  ".a",    "a..b",
					   "-a",     "--impure", "a b", "a/b",   "a#b",
					   "a^b",    "a*",       "a\n", "$(id)", "a;b",
					   "a\"b\"", "\xc3\xa4", "a@b", "a:b",   "~a" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(package_name_valid(good[i]), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!package_name_valid(bad[i]), bad[i]);
	CHECK(package_name_valid(repeat('a', LONGEST_PACKAGE_NAME)));
	CHECK(!package_name_valid(repeat('a', LONGEST_PACKAGE_NAME + 1)));
}

static void test_nearest(void)
{
	static const char *const known[] = { "name",   "network", "host_ports", "env",
					     "mounts", "nixpkgs", "confirm" };
	static const char *const rows[][2] = {
		{ "netwrok", "network" },
		{ "Network", "network" },
		{ "NETWORK", "network" },
		{ "offline", NULL },
		{ "net", NULL },
		{ "host-ports", "host_ports" },
		{ "hostports", "host_ports" },
		{ "mount", "mounts" },
		{ "nam", "name" },
		{ "nmae", "name" },
		{ "nev", "env" }, // one exchange
		{ "evn", "env" },
		{ "nixpkg", "nixpkgs" },
		{ "e", NULL },
		{ "en", "env" },
		{ "", NULL },
		{ "confirm", "confirm" },
		{ "entirely else", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(name_nearest(rows[i][0], known, ARRAY_SIZE(known)), rows[i][1],
				  rows[i][0]);
	CHECK(!name_nearest("x", NULL, 0));
	CHECK(!name_nearest(repeat('x', 100000), known, ARRAY_SIZE(known)));
	for (size_t length = 60; length < 70; length++) {
		const char *longest = repeat('x', length);

		CHECK_STRING(name_nearest(longest, &longest, 1), length <= 64 ? longest : NULL);
	}
}

int main(void)
{
	test_profiles();
	test_packages();
	test_nearest();
	arena_free(&arena);
	return check_done();
}
