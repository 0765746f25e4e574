// SPDX-License-Identifier: MIT
// Formatted lines: no wider than the terminal, unbroken commands, characters of the locale.
#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "check.h"

#include <string.h>

static struct arena arena;

static const char *wrapped(const char *text, size_t indent, struct reader reader)
{
	struct screen screen = screen_for(&arena, reader);

	screen_add_wrapped(&screen, STYLE_WARN, text, indent);
	return text_get(&screen.out);
}

static const char *at(size_t columns, const char *text)
{
	return wrapped(text, 2, (struct reader){ .columns = columns });
}

static void test_words(void)
{
	CHECK_STRING(at(0, "one two  three"), "one two  three\n");
	CHECK_STRING(at(20, "one two  three"), "one two  three\n");
	CHECK_STRING(at(20, "one two three four five"), "one two three four\n  five\n");
	// Blanks are kept inside a line, but not at its beginning or end.
	CHECK_STRING(at(20, "a path:  b     c    dddd eeee"), "a path:  b     c\n  dddd eeee\n");
	CHECK_STRING(at(20, "'a  b'"), "'a  b'\n");
	// A path with escaped blanks is one word.
	CHECK_STRING(at(20, "one two /a\\ b\\ c\\ d"), "one two\n  /a\\ b\\ c\\ d\n");
	// A word longer than a line is broken at the width.
	CHECK_STRING(at(20, "x 0123456789012345678901"), "x\n  012345678901234567\n  8901\n");
	CHECK_STRING(at(20, "0123456789012345678901 x"), "012345678901234567\n  8901 x\n");
	CHECK_STRING(at(20, ""), "\n");
}

static void test_lines(void)
{
	CHECK_STRING(at(0, "why:\n  > first\n  > second"), "why:\n    > first\n    > second\n");
	CHECK_STRING(wrapped("a\nb", 0, (struct reader){ 0 }), "a\nb\n");
	CHECK_STRING(at(20, "why: 0123456789 a\nb"), "why: 0123456789 a\n  b\n");
}

// A command that is broken into lines stays the same command when it is pasted into a shell.
static void test_commands(void)
{
	CHECK_STRING(at(0, "run `a bb ccc`, then"), "run `a bb ccc`, then\n");
	CHECK_STRING(at(22, "run it: `a bb ccc`, ok"), "run it: `a bb ccc`,\n  ok\n");
	CHECK_STRING(at(21, "run this: `a bb ccc`"), "run this:\n  `a bb ccc`\n");
	CHECK_STRING(at(20, "run `aaaa bbbb cccc dddd eeee`; go"),
		     "run\n  `aaaa bbbb cccc \\\n  dddd eeee`; go\n");
	CHECK_STRING(at(24, "run `chmod 700 'a b' 'c d e' ffff`"),
		     "run\n  `chmod 700 'a b' \\\n  'c d e' ffff`\n");
	// Text is not a command if its backquote is not closed in the same line, or is closed by an
	// apostrophe.
	CHECK_STRING(at(20, "it's `aaaa bbbb cccc dddd"), "it's `aaaa bbbb\n  cccc dddd\n");
	CHECK_STRING(at(20, "`a b\nc `d"), "`a b\n  c `d\n");
	CHECK_STRING(at(20, "neither `aaa' nor the `bbb'"), "neither `aaa' nor\n  the `bbb'\n");
}

// Text is cut after a word, and never inside of a command.
static void test_cut_words(void)
{
	struct screen screen = screen_for(&arena, (struct reader){ 0 });
	static const char text[] = "run `a bb ccc`, then /a\\ b c";

	CHECK(screen_count_words(&screen, text) == 5);
	CHECK(screen_count_words(&screen, "") == 0);
	CHECK_STRING(screen_cut_words(&screen, text, 1), "run...");
	CHECK_STRING(screen_cut_words(&screen, text, 2), "run `a bb ccc`,...");
	CHECK_STRING(screen_cut_words(&screen, text, 4), "run `a bb ccc`, then /a\\ b...");
	CHECK_STRING(screen_cut_words(&screen, text, 5), text);
	CHECK_STRING(screen_cut_words(&screen, text, 9), text);
}

static void test_characters(void)
{
	struct reader narrow = { .columns = 20, .ascii = true };

	CHECK_STRING(wrapped("\xc3\xa9t\xc3\xa9", 0, (struct reader){ 0 }), "\xc3\xa9t\xc3\xa9\n");
	CHECK_STRING(wrapped("\xc3\xa9t\xc3\xa9 \\xff", 0, (struct reader){ .ascii = true }),
		     "\\xc3\\xa9t\\xc3\\xa9 \\xff\n");
	// The width of the escaped text counts, and an escape is not split.
	CHECK_STRING(wrapped("ab \xc3\xa9\xc3\xa9", 2, narrow), "ab\n  \\xc3\\xa9\\xc3\\xa9\n");
	CHECK_STRING(wrapped("\xc3\xa9\xc3\xa9\xc3\xa9", 2, narrow),
		     "\\xc3\\xa9\\xc3\\xa9\n  \\xc3\\xa9\n");
	// Wide characters take two columns; a combining mark takes none and stays with its letter.
	CHECK_STRING(at(18,
			"\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5"
			"\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5"),
		     "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5"
		     "\xe6\x97\xa5\xe6\x97\xa5\n  \xe6\x97\xa5\n");
	CHECK_STRING(at(18, "0123456789abcdee\xcc\x81x"), "0123456789abcdee\xcc\x81\n  x\n");
}

static void test_colour(void)
{
	CHECK_STRING(wrapped("a b", 0, (struct reader){ .colour = true }),
		     "\033[33ma\033[0m \033[33mb\033[0m\n");
	CHECK_STRING(wrapped("", 0, (struct reader){ .colour = true }), "\n");
}

// No line is wider than the terminal, for several texts and all widths from 20 to 90.
static void test_no_line_is_wider(void)
{
	static const char *const texts[] = {
		"a text of many short words that go on and on, to the end of the line and further",
		"a-word-that-is-much-longer-than-any-line-and-has-no-blank-in-it-at-all-so-there",
		"run `sudo install -m 644 /usr/share/x/y /etc/x && sudo parser -r /etc/x`; then look",
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e x e\xcc\x81"
		"e\xcc\x81 \xf0\x9f\x98\x80 \\x1b[31m\\x1b[31m\\x1b[31m\\x1b[31m\\x1b[31m\\x1b[31m",
		"first\n  second, which is longer than the first one\n  third",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		bool fits = true;

		for (size_t columns = 20; columns <= 90; columns++) {
			for (int ascii = 0; ascii < 2; ascii++) {
				const char *text = wrapped(texts[i], 3,
							   (struct reader){ .columns = columns,
									    .ascii = ascii });

				for (const char *s = text; *s; s += strcspn(s, "\n") + 1)
					fits &= display_width(arena_strndup(
							&arena, s, strcspn(s, "\n"))) <= columns;
			}
		}
		CHECK_CASE(fits, texts[i]);
	}
}

int main(void)
{
	test_words();
	test_lines();
	test_commands();
	test_cut_words();
	test_characters();
	test_colour();
	test_no_line_is_wider();
	arena_free(&arena);
	return check_done();
}
