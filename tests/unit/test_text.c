// SPDX-License-Identifier: MIT
// Strings, quoting and widths: displayed text has no control characters, quoted words keep their
// value in a shell.
#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "base/width.h"
#include "check.h"
#include "shell.h"

#include <stdint.h>
#include <stdlib.h>

static struct arena arena;

static uint32_t random_state = 20240229;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static const char *random_value(size_t most)
{
	// Half of the bytes are special in a shell or on a terminal.
	static const char special[] = "'\"\\$`\n\t\r \033\177!*?~#;&|<>(){}[]=%-";
	struct text out = { .arena = &arena };
	size_t length = random_below((uint32_t)most);

	for (size_t i = 0; i < length; i++) {
		char c = (char)(random_below(2) ? special[random_below(sizeof(special) - 1)]
						: (char)(1 + random_below(255)));

		text_add_bytes(&out, &c, 1);
	}
	return text_get(&out);
}

static const char *const nasty[] = {
	"",
	"plain",
	"two words",
	"'",
	"''",
	"a'b",
	"$HOME",
	"`id`",
	"$(id)",
	"\\",
	"\\\\n",
	"\n",
	"a\nb\n\n",
	"\t",
	"\r",
	"\033[2J",
	"\001\002",
	"\177",
	"\xc3\xa9",
	"\xc3",
	"\xff\xfe",
	"\xe2\x80\xae",
	"caf\xe9",
	"-n",
	"--",
	"~",
	"*",
	"!!",
	"a#b",
	"'\n'",
	"\xf0\x9f\x98\x80",
	"\x80"
	"1",
	"\0011",
	"%s%d\\0",
	"$CLAUDEBOX_NL",
};

static bool no_control(const char *text)
{
	for (const char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static void test_display(void)
{
	static const struct {
		const char *value;
		size_t columns;
		const char *wanted;
	} rows[] = {
		{ "plain text", 0, "plain text" },
		{ "", 0, "" },
		{ "a\nb\tc\rd", 0, "a\\nb\\tc\\rd" },
		{ "\033[31m", 0, "\\x1b[31m" },
		{ "\x7f", 0, "\\x7f" },
		{ "\\x1b", 0, "\\\\x1b" },
		{ "\xc3\xa9", 0, "\xc3\xa9" },
		{ "\xc2\x9b", 0, "\\xc2\\x9b" },                   // C1: CSI
		{ "\xc2\x85", 0, "\\xc2\\x85" },                   // next line
		{ "\xe2\x80\xae", 0, "\\xe2\\x80\\xae" },          // right-to-left override
		{ "\xe2\x81\xa6", 0, "\\xe2\\x81\\xa6" },          // isolate
		{ "\xe2\x80\x8b", 0, "\\xe2\\x80\\x8b" },          // zero-width space
		{ "\xe2\x80\xa8", 0, "\\xe2\\x80\\xa8" },          // line separator
		{ "\xe2\xa0\x80", 0, "\\xe2\\xa0\\x80" },          // blank braille pattern
		{ "\xf3\xa0\x81\x81", 0, "\\xf3\\xa0\\x81\\x81" }, // tag
		{ "\xef\xbb\xbf", 0, "\\xef\\xbb\\xbf" },          // byte order mark
		{ "\xed\xa0\x80", 0, "\\xed\\xa0\\x80" },          // surrogate
		{ "\xc0\xaf", 0, "\\xc0\\xaf" },                   // overlong
		{ "\xe0\x80\xaf", 0, "\\xe0\\x80\\xaf" },          // overlong
		{ "\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80" }, // beyond Unicode
		{ "\xe2\x82", 0, "\\xe2\\x82" },                   // cut short
		{ "0123456789", 10, "0123456789" },
		{ "0123456789a", 10, "0123456789... (11 bytes)" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5... (6 bytes)" },
		{ "ab\033cd", 4, "ab... (5 bytes)" },
		// Combining marks: only on a letter of the same value, and at most three of them.
		{ "e\xcc\x81", 0, "e\xcc\x81" },
		{ "\xcc\x81", 0, "\\xcc\\x81" },
		{ "a \xcc\x81", 0, "a \\xcc\\x81" },
		{ "\033\xcc\x81", 0, "\\x1b\\xcc\\x81" },
		{ "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81x\xcc\x81", 0,
		  "e\xcc\x81\xcc\x81\xcc\x81\\xcc\\x81x\xcc\x81" },
		{ "e\xcc\x81"
		  "e\xcc\x81"
		  "e\xcc\x81",
		  2,
		  "e\xcc\x81"
		  "e\xcc\x81... (9 bytes)" },
		{ "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", 0, // a decomposed Hangul syllable
		  "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(quote_display(&arena, rows[i].value, rows[i].columns),
				  rows[i].wanted, rows[i].wanted);
	for (int i = 0; i < 2000 * check_stress(); i++) {
		const char *value = random_value(60);
		const char *shown = quote_display(&arena, value, 0);

		if (!no_control(shown) || !str_equal(quote_display(&arena, value, 400), shown)) {
			CHECK_CASE(false, "random bytes are shown without control characters");
			check_note("value", shown);
			return;
		}
	}
	CHECK_CASE(true, "random bytes are shown without control characters");
}

// The kept part of a long value is at most as wide as requested, not counting "... (N bytes)".
static void test_display_limit(void)
{
	static const char *const values[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
		"\033\033\033\033\033\033\033\033\033",
		"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
		"\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5",
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		const char *shown = quote_display(&arena, values[i], 8);
		const char *cut = strstr(shown, "... (");

		CHECK_CASE(cut && display_width(
					  arena_strndup(&arena, shown, (size_t)(cut - shown))) <= 8,
			   arena_printf(&arena, "at most 8 columns: %s", shown));
	}
}

static void test_width(void)
{
	CHECK(display_width("") == 0);
	CHECK(display_width("abc") == 3);
	CHECK(display_width("\xc3\xa9t\xc3\xa9") == 3);
	CHECK(display_width("\xe6\x97\xa5\xe6\x9c\xac") == 4);
	CHECK(display_width("\xf0\x9f\x98\x80") == 2);
	CHECK(display_width("\xff") == 1);
	CHECK(display_width("e\xcc\x81") == 1);
	CHECK(display_width("\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8") == 2);
	// The whole block counts as wide, though some of its characters are narrow.
	CHECK(display_width("\xe2\x9c\x85") == 2);
}

static void test_shell_words(void)
{
	bool newline = false;

	CHECK_STRING(quote_shell(&arena, "a/b-c_d.e=f:g,h@i%j+k", &newline),
		     "a/b-c_d.e=f:g,h@i%j+k");
	CHECK_STRING(quote_shell(&arena, "", &newline), "''");
	CHECK_STRING(quote_shell(&arena, "a b", &newline), "'a b'");
	CHECK_STRING(quote_shell(&arena, "it's", &newline), "'it'\\''s'");
	CHECK_STRING(quote_shell(&arena, "\033x", &newline), "\"$(printf '\\033')\"'x'");
	CHECK(!newline);
	CHECK_STRING(quote_shell(&arena, "a\nb", &newline), "'a'\"$CLAUDEBOX_NL\"'b'");
	CHECK(newline);
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++)
		CHECK_CASE(no_control(quote_shell(&arena, nasty[i], &newline)),
			   "a quoted word holds no control character");
}

static bool next_is(const char **cursor, const char *end, const char *wanted)
{
	size_t length = strlen(wanted);

	if ((size_t)(end - *cursor) < length + 1 || memcmp(*cursor, wanted, length + 1) != 0)
		return false;
	*cursor += length + 1;
	return true;
}

// Quotes every value, lets a real shell print it, and compares.
static void round_trip_words(const char *shell, const strings *values)
{
	struct text script = { .arena = &arena };
	const char *output;
	const char *cursor;
	size_t length = 0;
	size_t good = 0;

	text_add(&script, "CLAUDEBOX_NL='\n'\n");
	vec_each(value, values) {
		bool newline;

		text_printf(&script, "printf '%%s\\0' %s\n", quote_shell(&arena, *value, &newline));
	}
	output = cursor = shell_run(&arena, shell, text_get(&script), &length);
	vec_each(value, values) {
		if (!output || !next_is(&cursor, output + length, *value)) {
			check_note("value", quote_display(&arena, *value, 0));
			break;
		}
		good++;
	}
	CHECK_CASE(good == values->count && cursor == output + length,
		   arena_printf(&arena, "%zu words through %s", values->count, shell));
}

static void round_trip_documents(const char *shell, const strings *values)
{
	struct text script = { .arena = &arena };
	const char *output;
	const char *cursor;
	size_t length = 0;
	size_t good = 0;

	vec_each(value, values)
		text_printf(&script, "cat <<THE_END\n%s\nTHE_END\nprintf '\\0'\n",
			    quote_here_document(&arena, *value));
	output = cursor = shell_run(&arena, shell, text_get(&script), &length);
	vec_each(value, values) {
		if (!output ||
		    !next_is(&cursor, output + length, arena_printf(&arena, "%s\n", *value))) {
			check_note("value", quote_display(&arena, *value, 0));
			break;
		}
		good++;
	}
	CHECK_CASE(good == values->count && cursor == output + length,
		   arena_printf(&arena, "%zu here-documents through %s", values->count, shell));
}

static void test_round_trips(void)
{
	strings words = { 0 };
	strings documents = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		vec_push(&arena, &words, nasty[i]);
		vec_push(&arena, &documents, nasty[i]);
	}
	for (int i = 0; i < 60; i++)
		vec_push(&arena, &words, random_value(24));
	for (int i = 0; i < 30; i++)
		vec_push(&arena, &documents, random_value(30));
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (!shell_exists(shells[i]))
			continue;
		round_trip_words(shells[i], &words);
		round_trip_documents(shells[i], &documents);
	}
}

static const char *words_of(const char *line)
{
	struct text out = { .arena = &arena };
	const char *cursor = line;

	for (const char *word; (word = str_next_word(&arena, &cursor));)
		text_printf(&out, "<%s>", word);
	return text_get(&out);
}

static void test_next_word(void)
{
	CHECK_STRING(words_of(""), "");
	CHECK_STRING(words_of(" \t\n"), "");
	CHECK_STRING(words_of("a"), "<a>");
	CHECK_STRING(words_of("  a  b\tc\n"), "<a><b><c>");
	CHECK_STRING(words_of("\"a b\" 'c d'"), "<a b><c d>");
	CHECK_STRING(words_of("x'y z'w"), "<xy zw>");
	CHECK_STRING(words_of("\"it's\""), "<it's>");
	CHECK_STRING(words_of("'' a"), "<><a>");
	CHECK_STRING(words_of("'open end"), "<open end>");
	CHECK_STRING(words_of("a;b&&c||d|e"), "<a><b><c><d><e>");
	CHECK_STRING(words_of("'a;b'"), "<a;b>");
	CHECK_STRING(words_of("$HOME/x \\y"), "<$HOME/x><\\y>");
}

static void test_names(void)
{
	static const char *const good[] = { "A", "_", "a1", "PATH", "LC_ALL", "_x_9" };
	static const char *const bad[] = { "",    "1A",       "A-B", "A=B", "A B",
					   "A\n", "\xc3\xa9", "A.B", "A$" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(env_name_valid(good[i], strlen(good[i])), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!env_name_valid(bad[i], strlen(bad[i])),
			   arena_printf(&arena, "not a name: '%s'", bad[i]));
}

static void test_small(void)
{
	struct text text = { .arena = &arena };

	CHECK_STRING(text_get(&text), "");
	for (int i = 0; i < 1000; i++)
		text_printf(&text, "%03d", i);
	CHECK(text.length == 3000 && strlen(text_get(&text)) == 3000);
	CHECK(str_ends(text_get(&text), "998999"));
	CHECK(str_equal(NULL, NULL) && !str_equal("a", NULL) && !str_equal(NULL, "a"));
	CHECK(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"));
	CHECK(str_ends("abc", "bc") && !str_ends("bc", "abc"));
	CHECK_STRING(str_after("--name=x", "--name="), "x");
	CHECK(str_after("--nam", "--name") == NULL);
}

static void test_base64(void)
{
	static const char *const rows[][2] = {
		{ "", "" },          { "f", "Zg==\n" },          { "fo", "Zm8=\n" },
		{ "foo", "Zm9v\n" }, { "foob", "Zm9v\nYg==\n" }, { "\xff\xfe\xfb", "//77\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out = { .arena = &arena };

		text_add_base64(&out, (const unsigned char *)rows[i][0], strlen(rows[i][0]), 4);
		CHECK_STRING(text_get(&out), rows[i][1]);
	}
}

int main(void)
{
	test_base64();
	test_small();
	test_display();
	test_display_limit();
	test_width();
	test_shell_words();
	test_round_trips();
	test_next_word();
	test_names();
	arena_free(&arena);
	return check_done();
}
