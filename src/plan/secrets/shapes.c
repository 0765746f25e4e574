// SPDX-License-Identifier: MIT
// Matches the shapes of tokens.
#include "plan/secrets/shapes.h"

#include "base/text.h"
#include "plan/secrets/bytes.h"

#include <string.h>

enum { LEAST_DISTINCT = 5, RANDOM_RUN = 10, LONG_PREFIX = 4 };
// A class without an upper bound first takes this many, so that no text costs quadratic time.
enum { UNBOUNDED = 256 };

static bool in_class(char class, char c)
{
	if (c == '\0')
		return false;
	switch (class) {
	case 'a':
		return byte_is_alnum(c);
	case 'b':
		return byte_is_alnum(c) || c == '_' || c == '-';
	case 'w':
		return byte_is_alnum(c) || c == '_';
	case 'd':
		return byte_is_digit(c);
	case 'x':
		return byte_is_hex(c);
	case 'u':
		return byte_is_upper(c) || byte_is_digit(c);
	case 'l':
		return byte_is_lower(c) || byte_is_digit(c);
	case 's':
		return byte_is_alnum(c) || strchr("+/=", c);
	case 't':
		return byte_is_alnum(c) || strchr("_-.", c);
	case 'p':
		return byte_is_alnum(c) || strchr("_-./+=~", c);
	case 'q':
		return byte_is_alnum(c) || strchr("_-./+=~%", c);
	default:
		return false;
	}
}

static size_t read_number(const char **pattern)
{
	size_t number = 0;

	for (; byte_is_digit(**pattern); (*pattern)++)
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
			most = byte_is_digit(*pattern) ? read_number(&pattern) : UNBOUNDED;
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
		bool digit = byte_is_digit(run[i]);
		bool was_digit = byte_is_digit(run[i - 1]);

		digit_changes += digit != was_digit;
		case_changes += !digit && !was_digit &&
				!byte_is_upper(run[i]) != !byte_is_upper(run[i - 1]);
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
	for (size_t i = 0; i < SHAPE_SHORTEST; i++)
		if ((unsigned char)s[i] <= ' ' && !(i == 4 && str_starts(s, "SSWS ")))
			return true;
	return false;
}

// The start of a pattern that begins with classes of letters and digits: how many of them precede
// the first other character, and that character; '\0': their number varies.
struct open_start {
	size_t letters;
	char next;
};

static struct open_start read_open_start(const char *pattern)
{
	struct open_start start = { 0 };

	while (*pattern == '%') {
		if (!strchr("adxul", pattern[1]))
			return start;
		pattern += 2;
		start.letters += read_number(&pattern);
		if (*pattern == ',')
			return start;
	}
	start.next = *pattern;
	return start;
}

// Returns the number of letters and digits at the start of the text, up to a bound.
static size_t count_letters(const char *s, size_t most)
{
	size_t count = 0;

	while (count < most && byte_is_alnum(s[count]))
		count++;
	return count;
}

// An index of the table of shapes.
struct shape_index {
	bool filled;
	// The pairs of characters that a shape can start with. They decide most places of a text.
	unsigned char pairs[256][32];
	// Rows that start with a character, in the order of the table; NO_ROW ends the list.
	unsigned short first[256];
	unsigned short next[TOKEN_SHAPES_MAX];
	// The first row whose pattern starts with a class; those behind it do, too.
	unsigned short open;
	struct open_start starts[TOKEN_SHAPES_MAX]; // of these rows
	size_t most_letters;                        // of these starts
};
enum { NO_ROW = 0xffff };

// Returns the index, which the first call fills.
static const struct shape_index *get_index(void)
{
	static struct shape_index index;

	if (index.filled)
		return &index;
	memset(index.first, 0xff, sizeof(index.first));
	index.open = (unsigned short)token_shape_count;
	for (size_t row = token_shape_count; row-- > 0;) {
		const char *pattern = token_shapes[row].pattern;
		unsigned char start = (unsigned char)pattern[0];
		unsigned char second = (unsigned char)pattern[1];

		if (start == '%') {
			index.open = (unsigned short)row;
			index.starts[row] = read_open_start(pattern);
			if (index.most_letters < index.starts[row].letters)
				index.most_letters = index.starts[row].letters;
			continue;
		}
		index.next[row] = index.first[start];
		index.first[start] = (unsigned short)row;
		if (second == '%')
			memset(index.pairs[start], 0xff, sizeof(index.pairs[start]));
		else
			index.pairs[start][second / 8] |= (unsigned char)(1 << second % 8);
	}
	index.filled = true;
	return &index;
}

static bool can_start(const struct shape_index *index, unsigned char first, unsigned char second)
{
	return index->pairs[first][second / 8] >> second % 8 & 1;
}

// Returns whether the token follows an option without a blank: -pTOKEN.
static bool follows_option(const char *text, size_t at)
{
	return at >= 2 && text[at - 2] == '-' && byte_is_alpha(text[at - 1]) &&
	       (at == 2 || !byte_is_alnum(text[at - 3]));
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

// Returns the length of the token at text[at] if it has this shape, otherwise 0.
static size_t match_shape(const struct token_shape *shape, const char *text, size_t at, bool inside)
{
	const char *s = text + at;
	size_t literal;
	char open;
	size_t length = match_pattern(shape->pattern, s, &literal, &open);

	if (length == 0 || is_placeholder(s + literal, length - literal) ||
	    (inside && !counts_inside(shape, text, at, literal, length)) ||
	    (shape->mixed && at > 0 && s[-1] == '+') || // the middle of base64
	    (shape->mixed && !shape_random(s + literal, length - literal, RANDOM_RUN)))
		return 0;
	while (open && in_class(open, s[length]))
		length++;
	return length;
}

// Does the same for all shapes that start with a class.
static size_t match_open(const struct shape_index *index, const char *text, size_t at, bool inside,
			 const char **ret_kind)
{
	size_t letters = count_letters(text + at, index->most_letters);
	size_t length = 0;

	for (size_t row = index->open; row < token_shape_count && !length; row++) {
		const struct open_start *start = &index->starts[row];

		if (letters < start->letters ||
		    (start->next && text[at + start->letters] != start->next))
			continue;
		length = match_shape(&token_shapes[row], text, at, inside);
		*ret_kind = token_shapes[row].kind;
	}
	return length;
}

size_t shape_match(const char *text, size_t at, const char **ret_kind)
{
	const struct shape_index *index = get_index();
	const char *s = text + at;
	unsigned char start = (unsigned char)s[0];
	bool literal_start = can_start(index, start, (unsigned char)s[1]);
	size_t length = 0;
	size_t row;
	bool inside;

	if (!literal_start && !byte_is_alnum(*s))
		return 0;
	inside = !shape_boundary(text, at);
	if (inside && !literal_start && !byte_is_digit(*s))
		return 0;
	row = literal_start && !is_short_word(s) ? index->first[start] : NO_ROW;
	for (; row != NO_ROW && !length; row = index->next[row]) {
		length = match_shape(&token_shapes[row], text, at, inside);
		*ret_kind = token_shapes[row].kind;
	}
	return length ? length : match_open(index, text, at, inside, ret_kind);
}

bool shape_after_escape(const char *text, size_t at)
{
	const char *s = text + at;

	if (at >= 2 && s[-2] == '\\' && strchr("nrt", s[-1]))
		return true;
	if (at >= 3 && s[-3] == '%' && byte_is_hex(s[-2]) && byte_is_hex(s[-1]))
		return true;
	return at >= 6 && s[-6] == '\\' && s[-5] == 'u';
}
