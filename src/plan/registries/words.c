// SPDX-License-Identifier: MIT
// Tells names that people choose from random text.
//
// Theory of operation: a group of letters and digits reads like a name if it is a number, or words
// with at most one number: java11, 3rdparty, releases, NuGetPackages. Words begin with a capital or
// have none, and have vowels. Short groups of letters alone are always names: mvn, npm.
#include "plan/registries/words.h"

#include "plan/secrets/bytes.h"

#include <stdbool.h>
#include <string.h>

enum {
	LONGEST_NUMBER = 12,    // an account in the name of a host
	LONGEST_VERSION = 4,    // a year beside letters
	LONGEST_INSIDE = 2,     // a number between letters
	LONGEST_MIXED = 10,     // a group with a number between letters
	LONGEST_WORDS = 24,     // letters without a separator
	LONGEST_CAPITALS = 5,   // in a group with small letters
	LONGEST_CONSONANTS = 4, // without a vowel between them
	VOWELS_ONE_IN = 5,      // letters
	PLAIN_UNCHECKED = 11,   // letters of one case
	CASES_UNCHECKED = 7,    // letters of both
	NUMBERED_UNCHECKED = 5, // letters beside a number
	LONGEST_HEXADECIMAL = 15,
};

// The letters of a group, without its number.
struct letters {
	size_t count;
	size_t vowels;
	size_t consonants; // the longest run
	size_t capitals;   // the longest run
	size_t humps;      // changes from a small letter to a capital
	bool small;
	bool large;
	bool lone; // a single small letter between capitals, unless as in MyRepo
};

static bool is_vowel(char c)
{
	return strchr("aeiouy", c | 0x20) != NULL;
}

static struct letters count_letters(const char *group, size_t length)
{
	struct letters l = { 0 };
	size_t consonants = 0;
	size_t capitals = 0;
	char before = '\0';

	for (size_t i = 0; i < length; i++) {
		char c = group[i];
		bool upper = byte_is_upper(c);

		if (byte_is_digit(c)) {
			before = '\0';
			continue;
		}
		l.count++;
		l.vowels += is_vowel(c);
		consonants = is_vowel(c) ? 0 : consonants + 1;
		capitals = upper ? capitals + 1 : 0;
		l.consonants = consonants > l.consonants ? consonants : l.consonants;
		l.capitals = capitals > l.capitals ? capitals : l.capitals;
		l.humps += upper && byte_is_lower(before);
		l.small |= !upper;
		l.large |= upper;
		l.lone |= !upper && i > 1 && byte_is_upper(before) &&
			  (i + 1 == length || !byte_is_lower(group[i + 1]));
		before = c;
	}
	return l;
}

static bool read_like_words(const struct letters *l, bool numbered)
{
	bool cases = l->small && l->large;
	size_t unchecked = numbered ? NUMBERED_UNCHECKED
			   : cases  ? CASES_UNCHECKED
				    : PLAIN_UNCHECKED;

	if (cases && (l->lone || l->capitals > LONGEST_CAPITALS || l->humps * 3 > l->count))
		return false;
	if (l->count > LONGEST_WORDS)
		return false;
	return l->count <= unchecked ||
	       (l->consonants <= LONGEST_CONSONANTS && l->vowels * VOWELS_ONE_IN >= l->count);
}

// Returns whether the numbers of a group are those of a name.
static bool has_name_numbers(const char *group, size_t length)
{
	size_t runs = 0;
	size_t longest = 0;
	bool inside;

	for (size_t i = 0, run = 0; i < length; i++) {
		run = byte_is_digit(group[i]) ? run + 1 : 0;
		runs += run == 1;
		longest = run > longest ? run : longest;
	}
	inside = !byte_is_digit(group[0]) && !byte_is_digit(group[length - 1]);
	if (longest == length)
		return length <= LONGEST_NUMBER;
	return runs == 0 || (runs == 1 && longest <= LONGEST_VERSION &&
			     (!inside || (longest <= LONGEST_INSIDE && length <= LONGEST_MIXED)));
}

static bool reads_like_name(const char *group, size_t length)
{
	struct letters letters = count_letters(group, length);
	size_t hexadecimal = 0;

	for (size_t i = 0; i < length; i++)
		hexadecimal += byte_is_hex(group[i]);
	return !(hexadecimal == length && length > LONGEST_HEXADECIMAL) &&
	       has_name_numbers(group, length) && read_like_words(&letters, letters.count < length);
}

size_t odd_characters(const char *text, size_t length)
{
	size_t odd = 0;

	for (size_t i = 0; i < length;) {
		size_t group = 0;

		while (i + group < length && byte_is_alnum(text[i + group]))
			group++;
		if (group && !reads_like_name(text + i, group))
			odd += group;
		i += group + 1;
	}
	return odd;
}
