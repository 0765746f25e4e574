// SPDX-License-Identifier: MIT
// Positions in JSON texts: line and column of every key and value, and termination on any text.
#include "base/arena.h"
#include "check.h"
#include "config/locate.h"

#include <string.h>

static struct arena arena;

// Splits a path "env.A" or "mounts.1.host". A step of digits is an index; with '%' before them it
// is a key.
static size_t split(const char *path, struct json_step *steps)
{
	size_t depth = 0;

	for (const char *s = path; *s; depth++) {
		size_t length = strcspn(s, ".");
		const char *word = arena_strndup(&arena, s, length);

		steps[depth] = (struct json_step){ .key = word };
		if (strspn(word, "0123456789") == length) {
			steps[depth].key = NULL;
			for (const char *digit = word; *digit; digit++)
				steps[depth].index =
					steps[depth].index * 10 + (size_t)(*digit - '0');
		} else if (*word == '%') {
			steps[depth].key = word + 1;
		}
		s += length + (s[length] == '.');
	}
	return depth;
}

static const char *find(const char *text, const char *path, enum locate_what what)
{
	struct json_step steps[8];
	struct position position;

	if (!locate(text, steps, split(path, steps), what, &position))
		return "nowhere";
	return arena_printf(&arena, "%zu:%zu", position.line, position.column);
}

static void test_found(void)
{
	static const struct {
		const char *text;
		const char *path;
		const char *key;
		const char *value;
	} rows[] = {
		{ "{}", "", "1:1", "1:1" },
		{ "\n\t {}", "", "2:3", "2:3" },
		{ "17", "", "1:1", "1:1" },
		{ "{\"a\":1}", "a", "1:2", "1:6" },
		{ "{\n  \"a\" :\n    1\n}", "a", "2:3", "3:5" },
		{ "{\r\n\"a\":\r\n1}", "a", "2:1", "3:1" },
		{ "{\"a\":1,\"b\":2}", "b", "1:8", "1:12" },
		// the same name elsewhere, before and inside
		{ "{\"x\":{\"a\":1},\"a\":2}", "a", "1:14", "1:18" },
		{ "{\"a\":{\"a\":{\"a\":1}}}", "a.a.a", "1:12", "1:16" },
		{ "{\"x\":\"a\",\"a\":2}", "a", "1:10", "1:14" },
		{ "{\"x\":[{\"a\":1}],\"y\":{\"a\":[]},\"a\":{}}", "a", "1:29", "1:33" },
		{ "{\"x\":[{\"a\":1}],\"y\":{\"a\":[]},\"a\":{}}", "y.a", "1:21", "1:25" },
		{ "{\"x\":[{\"a\":1}],\"y\":{\"a\":[]},\"a\":{}}", "x.0.a", "1:8", "1:12" },
		// entries
		{ "[1, 22, \"3\"]", "0", "1:2", "1:2" },
		{ "[1, 22, \"3\"]", "1", "1:5", "1:5" },
		{ "[1, 22, \"3\"]", "2", "1:9", "1:9" },
		{ "[[], [1, [2, 3]], [4]]", "1.1.1", "1:14", "1:14" },
		{ "[{}, {\"a\": {}}, {\"a\": 5}]", "2.a", "1:18", "1:23" },
		{ "{\"1\": 1, \"a\": [7, 8]}", "%1", "1:2", "1:7" },
		{ "[-1.5e+3, true, null, false]", "3", "1:23", "1:23" },
		// brackets and colons in strings
		{ "{\"x\":\"{\\\"a\\\":1}\",\"a\":2}", "a", "1:18", "1:22" },
		{ "{\"x\":\"]},{[\",\"a\":2}", "a", "1:14", "1:18" },
		{ "{\"x\":[\"]\",\"\\\\\"],\"a\":2}", "a", "1:17", "1:21" },
		{ "{\"x\\\\\":0,\"a\":2}", "a", "1:10", "1:14" },
		{ "{\"x\\\"a\":0,\"a\":2}", "a", "1:11", "1:15" },
		// escapes in keys
		{ "{\"\\u0061\":1}", "a", "1:2", "1:11" },
		{ "{\"b\":0,\"\\u0061\\u0062\":1}", "ab", "1:8", "1:23" },
		{ "{\"a\\/b\":1}", "a/b", "1:2", "1:9" },
		{ "{\"\\ud83d\\ude00\":1}", "\xf0\x9f\x98\x80", "1:2", "1:17" },
		{ "{\"a\\\"b\":1}", "a\"b", "1:2", "1:9" },
		{ "{\"\":1, \"a\": 2}", "a", "1:8", "1:13" },
		// a column is a character
		{ "{\"\xc3\xa4\":\"\xe2\x82\xac\xf0\x9f\x98\x80\",\"a\":2}", "a", "1:11", "1:15" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_CASE_STRING(find(rows[i].text, rows[i].path, LOCATE_KEY), rows[i].key,
				  rows[i].text);
		CHECK_CASE_STRING(find(rows[i].text, rows[i].path, LOCATE_VALUE), rows[i].value,
				  rows[i].text);
	}
}

static void test_nowhere(void)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ " \n", "" },
		{ "{}", "a" },
		{ "[]", "0" },
		{ "[1]", "1" },
		{ "[1]", "a" },
		{ "{\"a\":1}", "0" },
		{ "{\"a\":1}", "b" },
		{ "{\"a\":1}", "a.b" },
		{ "{\"a\":{\"b\":1}}", "b" },
		{ "{\"A\":1}", "a" },
		{ "{\"ab\":1}", "a" },
		{ "{\"a\":1}", "ab" },
		// not JSON: only termination matters
		{ "{", "a" },
		{ "{\"a", "a" },
		{ "{\"a\\", "a" },
		{ "{\"a\"", "a" },
		{ "{\"a\":", "a" },
		{ "{\"a\" 1}", "a" },
		{ "{\"b\":}", "a" },
		{ "{\"b\":[[[", "a" },
		{ "{\"b\":]]]}", "a" },
		{ "[", "0" },
		{ "[,", "3" },
		{ "\"", "a" },
		{ "{\"\\u006\":1}", "a" },
		{ "{\"\\ud800\":1}", "a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_CASE_STRING(find(rows[i][0], rows[i][1], LOCATE_VALUE), "nowhere",
				  rows[i][0]);
		CHECK_CASE_STRING(find(rows[i][0], rows[i][1], LOCATE_KEY), "nowhere", rows[i][0]);
	}
}

// Nested deeper than a recursive parser could go.
static void test_deep(void)
{
	enum { DEPTH = 200000 };
	char *text = arena_alloc(&arena, 2 * DEPTH + 32);

	memcpy(text, "{\"x\":", 5);
	memset(text + 5, '[', DEPTH);
	memset(text + 5 + DEPTH, ']', DEPTH);
	memcpy(text + 5 + 2 * DEPTH, ",\"a\":1}", 8);
	CHECK_STRING(find(text, "a", LOCATE_KEY), "1:400007");
}

static void test_bytes(void)
{
	static const char text[] = "a\n\xc3\xa4"
				   "b\n";
	static const size_t wanted[][2] = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 2, 2 },
					    { 2, 2 }, { 2, 3 }, { 3, 1 }, { 3, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct position position = locate_byte(text, i);

		CHECK_CASE(position.line == wanted[i][0] && position.column == wanted[i][1],
			   arena_printf(&arena, "byte %zu is at %zu:%zu", i, position.line,
					position.column));
	}
}

int main(void)
{
	test_found();
	test_nowhere();
	test_deep();
	test_bytes();
	arena_free(&arena);
	return check_done();
}
