// SPDX-License-Identifier: MIT
// The usual forms of HTTP headers that contain no credentials.
//
// Theory of operation: a header such as Accept consists of words and numbers. A key mixes both, or
// has capitals in the middle of a word. So a value is divided at its punctuation, and each part is
// judged alone.
#include "plan/claude/headers.h"

#include "base/arena.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_WORD = 16, LONGEST_NUMBER = 8, LONGEST_MIXED = 6 };

// A header, and the punctuation between the parts of its value.
struct header_row {
	const char *name;
	const char *separators;
	const char *why;
};
static const struct header_row header_table[] = {
	{ "accept", " ,;=/+.-*", "types of content, with their weights" },
	{ "accept-encoding", " ,;=.*-", "gzip;q=0.5" },
	{ "accept-language", " ,;=.*-", "en-GB,en;q=0.9" },
	{ "cache-control", " ,=-", "max-age=0" },
	{ "content-type", " ;=/+.-\"", "one type of content" },
	{ "user-agent", " ,;:/+.-_()@", "names and versions of programs, and a comment" },
	{ "anthropic-beta", " ,-", "names with a date" },
	{ "anthropic-version", "-", "a date" },
};

// Returns whether a part is a word, a number, or a short mixture such as x64 or v2.
static bool is_usual_part(const char *part, size_t length)
{
	size_t digits = 0;
	size_t letters = 0;
	size_t inner = 0; // capitals after small letters: WebKit has one

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)part[i];

		digits += isdigit(byte) != 0;
		letters += isalpha(byte) != 0;
		inner += i > 0 && isupper(byte) && islower((unsigned char)part[i - 1]);
	}
	if (digits + letters < length || inner > 2)
		return false;
	if (digits && letters)
		return length <= LONGEST_MIXED;
	return length <= (digits ? LONGEST_NUMBER : LONGEST_WORD);
}

bool header_is_usual(const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(header_table); i++) {
		const struct header_row *row = &header_table[i];

		if (strcasecmp(row->name, name) != 0)
			continue;
		for (const char *s = value; *s; s += strspn(s, row->separators)) {
			size_t length = strcspn(s, row->separators);

			if (!is_usual_part(s, length))
				return false;
			s += length;
		}
		return !secret_random_part(value);
	}
	return false;
}
