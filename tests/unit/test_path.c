// SPDX-License-Identifier: MIT
// Lexical paths, digests, arenas and errors.
#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"

#include <stdint.h>
#include <string.h>

static struct arena arena;

static void test_within(void)
{
	static const struct {
		const char *path;
		const char *directory;
		bool within;
	} rows[] = {
		{ "/a/b", "/a", true },  { "/a", "/a", true },       { "/ab", "/a", false },
		{ "/a", "/a/b", false }, { "/", "/", true },         { "/a", "/", true },
		{ "/", "/a", false },    { "/a/bc", "/a/b", false }, { "/a/b/c", "/a/b", true },
		{ "a/b", "/", false },   { "/A", "/a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(path_within(rows[i].path, rows[i].directory) == rows[i].within,
			   arena_printf(&arena, "%s in %s", rows[i].path, rows[i].directory));
}

static void test_clean(void)
{
	static const char *const rows[][2] = {
		{ "/", "/" },
		{ "//", "/" },
		{ "/a/", "/a" },
		{ "/a//b", "/a/b" },
		{ "/./a/.", "/a" },
		{ "/a/..", "/" },
		{ "/..", "/" },
		{ "/../../a", "/a" },
		{ "/a/b/../../c", "/c" },
		{ "/a/...", "/a/..." },
		{ "/a/..b", "/a/..b" },
		{ "/a/.b/", "/a/.b" },
		{ "/a/b/../c/./d//", "/a/c/d" },
		{ "/a/../..", "/" },
		{ "", "/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(path_clean(&arena, rows[i][0]), rows[i][1], rows[i][0]);
}

static void test_parts(void)
{
	CHECK_STRING(path_join(&arena, "/a", "b"), "/a/b");
	CHECK_STRING(path_join(&arena, "/", "b"), "/b");
	CHECK_STRING(path_join(&arena, "/a/", "b/c"), "/a/b/c");
	CHECK_STRING(path_join(&arena, "/a", "/b"), "/b");
	CHECK_STRING(path_parent(&arena, "/a/b"), "/a");
	CHECK_STRING(path_parent(&arena, "/a"), "/");
	CHECK_STRING(path_parent(&arena, "/"), "/");
	CHECK_STRING(path_name("/a/b"), "b");
	CHECK(path_key("") && path_key("/a") == path_key("/a") && path_key("/a") != path_key("/b"));
	CHECK_STRING(path_name("b"), "b");
	CHECK_STRING(path_name("/"), "");
}

static void test_home(void)
{
	CHECK_STRING(path_tilde(&arena, "/home/u/x", "/home/u"), "~/x");
	CHECK_STRING(path_tilde(&arena, "/home/u", "/home/u"), "~");
	CHECK_STRING(path_tilde(&arena, "/home/user", "/home/u"), "/home/user");
	CHECK_STRING(path_tilde(&arena, "/etc", "/"), "/etc");
	CHECK_STRING(path_tilde(&arena, "/etc", NULL), "/etc");
	CHECK_STRING(path_expand_home(&arena, "~/x", "/home/u"), "/home/u/x");
	CHECK_STRING(path_expand_home(&arena, "$HOME/x", "/home/u"), "/home/u/x");
	CHECK_STRING(path_expand_home(&arena, "${HOME}/x", "/home/u"), "/home/u/x");
	CHECK_STRING(path_expand_home(&arena, "~//x", "/home/u"), "/home/u/x");
	CHECK_STRING(path_expand_home(&arena, "/x", "/home/u"), "/x");
	CHECK_STRING(path_expand_home(&arena, "~other/x", "/home/u"), "~other/x");
	CHECK_STRING(path_expand_home(&arena, "$HOMER/x", "/home/u"), "$HOMER/x");
}

static void test_digest(void)
{
	CHECK_STRING(digest_hex(&arena, "", 64),
		     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_STRING(digest_hex(&arena, "abc", 16), "ba7816bf8f01cfea");
}

static void test_arena(void)
{
	VEC(int) numbers = { 0 };
	int sum = 0;
	const char *long_text;

	for (int i = 0; i < 1000; i++)
		vec_push(&arena, &numbers, i);
	vec_each(number, &numbers)
		sum += *number;
	CHECK(numbers.count == 1000 && sum == 999 * 500);
	long_text = arena_printf(&arena, "%0200000d", 7);
	CHECK(strlen(long_text) == 200000 && str_ends(long_text, "0007"));
	CHECK((uintptr_t)arena_alloc(&arena, 3) % sizeof(void *) == 0);
	CHECK(*(char *)arena_alloc(&arena, 1) == 0);
}

static void test_arena_extend(void)
{
	struct arena own = { 0 };
	char *first = arena_alloc(&own, 8);
	char *second;

	CHECK_CASE(arena_extend(&own, first, 8, 100), "the last memory grows in its place");
	second = arena_alloc(&own, 8);
	CHECK_CASE(second >= first + 100, "... and other memory comes after it");
	for (size_t i = 0; i < 100; i++)
		CHECK_CASE(first[i] == 0, "... zeroed");
	CHECK_CASE(!arena_extend(&own, first, 100, 200),
		   "memory before other memory does not grow");
	CHECK_CASE(!arena_extend(&own, second, 8, 1 << 20), "... nor does it beyond its block");
	arena_free(&own);
}

static void test_error(void)
{
	struct error error = { .arena = &arena };

	CHECK(!error_set(&error, "cannot open '%s'", "x") && !error_hint(&error, "try %d", 2));
	CHECK_STRING(error.message, "cannot open 'x'");
	CHECK_STRING(error.hint, "try 2");
	CHECK(error.status == EXIT_NOT_STARTED);
	error.status = EXIT_USAGE;
	error_set(&error, "again");
	CHECK(error.status == EXIT_USAGE);
}

int main(void)
{
	test_within();
	test_clean();
	test_parts();
	test_home();
	test_digest();
	test_arena();
	test_arena_extend();
	test_error();
	arena_free(&arena);
	return check_done();
}
