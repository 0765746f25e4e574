// SPDX-License-Identifier: MIT
// Matches the shapes of tokens.
#include "plan/secrets/shapes.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { LEAST_DISTINCT = 5, RANDOM_RUN = 10, SHORTEST_TOKEN = 15, LONG_PREFIX = 4 };
// A class without an upper bound first takes this many, so that no text costs quadratic time.
enum { UNBOUNDED = 256 };

static bool in_class(char class, char c)
{
	if (c == '\0')
		return false;
	switch (class) {
	case 'a':
		return isalnum((unsigned char)c);
	case 'b':
		return isalnum((unsigned char)c) || c == '_' || c == '-';
	case 'w':
		return isalnum((unsigned char)c) || c == '_';
	case 'd':
		return isdigit((unsigned char)c);
	case 'x':
		return isxdigit((unsigned char)c);
	case 'u':
		return isupper((unsigned char)c) || isdigit((unsigned char)c);
	case 'l':
		return islower((unsigned char)c) || isdigit((unsigned char)c);
	case 's':
		return isalnum((unsigned char)c) || strchr("+/=", c);
	case 't':
		return isalnum((unsigned char)c) || strchr("_-.", c);
	case 'p':
		return isalnum((unsigned char)c) || strchr("_-./+=~", c);
	case 'q':
		return isalnum((unsigned char)c) || strchr("_-./+=~%", c);
	default:
		return false;
	}
}

static size_t read_number(const char **pattern)
{
	size_t number = 0;

	for (; isdigit((unsigned char)**pattern); (*pattern)++)
		number = number * 10 + (size_t)(**pattern - '0');
	return number;
}

// Matches a pattern at the start of the text. Returns the length, 0: no match. Stores the length of
// the literal text before the first class, and the class that may continue behind the match.
static size_t match_pattern(const char *pattern, const char *text, size_t *ret_literal,
			    char *ret_open)
{
	const char *s = text;
	char class = '\0';
	size_t count = 0;

	*ret_literal = 0;
	while (*pattern) {
		size_t least;
		size_t most;

		if (*pattern != '%') {
			if (*s++ != *pattern++)
				return 0;
			*ret_literal += class == '\0';
			continue;
		}
		class = pattern[1];
		pattern += 2;
		least = most = read_number(&pattern);
		if (*pattern == ',') {
			pattern++;
			most = isdigit((unsigned char)*pattern) ? read_number(&pattern) : UNBOUNDED;
		}
		count = 0;
		while (count < most && in_class(class, *s)) {
			count++;
			s++;
		}
		if (count < least)
			return 0;
	}
	*ret_open = '\0';
	if (count == UNBOUNDED)
		*ret_open = class;
	// A longer word is not this token.
	return !*ret_open && in_class('a', *s) && in_class(class, *s) ? 0 : (size_t)(s - text);
}

static size_t count_distinct(const char *bytes, size_t length)
{
	bool seen[256] = { false };
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		count += !seen[(unsigned char)bytes[i]];
		seen[(unsigned char)bytes[i]] = true;
	}
	return count;
}

// Returns whether letters and digits alternate, or small and capital letters do, more often than in
// words and numbers.
static bool is_random_run(const char *run, size_t length)
{
	size_t digit_changes = 0;
	size_t case_changes = 0;

	for (size_t i = 1; i < length; i++) {
		bool digit = isdigit((unsigned char)run[i]);
		bool was_digit = isdigit((unsigned char)run[i - 1]);

		digit_changes += digit != was_digit;
		case_changes += !digit && !was_digit &&
				!isupper((unsigned char)run[i]) !=
					!isupper((unsigned char)run[i - 1]);
	}
	return count_distinct(run, length) > LEAST_DISTINCT &&
	       (digit_changes >= 3 || (digit_changes >= 1 && case_changes >= 2) ||
		(digit_changes == 0 && case_changes * 5 >= length * 2));
}

bool shape_random(const char *bytes, size_t length, size_t shortest)
{
	for (size_t i = 0; i < length;) {
		size_t run = 0;

		while (i + run < length && in_class('a', bytes[i + run]))
			run++;
		if (run >= shortest && is_random_run(bytes + i, run))
			return true;
		i += run + 1;
	}
	return false;
}

// Returns whether the text is an example that a person replaces.
static bool is_placeholder(const char *bytes, size_t length)
{
	return memmem(bytes, length, "your-", 5) || memmem(bytes, length, "your_", 5);
}

// Returns whether the word is shorter than every token. Most words of a text are, and this check is
// much faster than the table. One token, of Okta, has a blank near its start.
static bool is_short_word(const char *s)
{
	for (size_t i = 0; i < SHORTEST_TOKEN; i++)
		if ((unsigned char)s[i] <= ' ' && !(i == 4 && str_starts(s, "SSWS ")))
			return true;
	return false;
}

// Returns whether a shape of the table can start with these two characters. Most places of a text
// are decided by this set of pairs, which the first call fills.
static bool can_start(char first, char second)
{
	static unsigned char pairs[256][32];
	static bool filled;

	for (size_t i = 0; !filled && i < token_shape_count; i++) {
		const char *pattern = token_shapes[i].pattern;
		unsigned char *row = pairs[(unsigned char)pattern[0]];
		unsigned char next = (unsigned char)pattern[1];

		if (pattern[0] != '%' && next == '%')
			memset(row, 0xff, sizeof(pairs[0]));
		else if (pattern[0] != '%')
			row[next / 8] |= (unsigned char)(1 << next % 8);
	}
	filled = true;
	return pairs[(unsigned char)first][(unsigned char)second / 8] >> (unsigned char)second % 8 &
	       1;
}

// Returns the first row whose pattern starts with a class; those behind it do, too.
static size_t first_open_row(void)
{
	size_t row = token_shape_count;

	while (row > 0 && token_shapes[row - 1].pattern[0] == '%')
		row--;
	return row;
}

// Returns whether the token follows an option without a blank: -pTOKEN.
static bool follows_option(const char *text, size_t at)
{
	return at >= 2 && text[at - 2] == '-' && isalpha((unsigned char)text[at - 1]) &&
	       (at == 2 || !isalnum((unsigned char)text[at - 3]));
}

// Returns whether the shape counts in the middle of a word: its prefix is in no word, and the rest
// looks random. The address of a Telegram robot has "bot" before the token.
static bool counts_inside(const struct token_shape *shape, const char *text, size_t at,
			  size_t literal, size_t length)
{
	static const char *const words[] = { "key-", "api-", "sdk-", "token-", "test_", "live_" };

	if (follows_option(text, at))
		return true;
	if (at >= 3 && shape->pattern[0] == '%')
		return shape->pattern[1] == 'd' && memcmp(text + at - 3, "bot", 3) == 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_starts(shape->pattern, words[i]))
			return false;
	return !shape->mixed && literal >= LONG_PREFIX &&
	       shape_random(text + at + literal, length - literal, RANDOM_RUN);
}

size_t shape_match(const char *text, size_t at, const char **ret_kind)
{
	const char *s = text + at;
	bool literal_start = can_start(s[0], s[1]);
	bool inside;

	if ((!literal_start && !isalnum((unsigned char)*s)) || is_short_word(s))
		return 0;
	inside = !shape_boundary(text, at);
	if (inside && !literal_start && !isdigit((unsigned char)*s))
		return 0;
	for (size_t i = literal_start ? 0 : first_open_row(); i < token_shape_count; i++) {
		const struct token_shape *shape = &token_shapes[i];
		size_t literal;
		size_t length;
		char open;

		if (shape->pattern[0] != '%' && shape->pattern[0] != *s)
			continue;
		length = match_pattern(shape->pattern, s, &literal, &open);
		if (length == 0 || is_placeholder(s + literal, length - literal) ||
		    (inside && !counts_inside(shape, text, at, literal, length)) ||
		    (shape->mixed && at > 0 && s[-1] == '+') || // the middle of base64
		    (shape->mixed && !shape_random(s + literal, length - literal, RANDOM_RUN)))
			continue;
		while (open && in_class(open, s[length]))
			length++;
		*ret_kind = shape->kind;
		return length;
	}
	return 0;
}

bool shape_boundary(const char *text, size_t at)
{
	const char *s = text + at;

	if (at == 0 || !isalnum((unsigned char)s[-1]))
		return true;
	if (at >= 2 && s[-2] == '\\' && strchr("nrt", s[-1]))
		return true;
	if (at >= 3 && s[-3] == '%' && isxdigit((unsigned char)s[-2]) &&
	    isxdigit((unsigned char)s[-1]))
		return true;
	return at >= 6 && s[-6] == '\\' && s[-5] == 'u';
}
