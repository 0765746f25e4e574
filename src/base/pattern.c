// SPDX-License-Identifier: MIT
// Patterns of directories.
//
// Theory of operation: a pattern and a path are sequences of names. After a mismatch only the last
// wildcard has to take one more name (or byte): what an earlier wildcard could take instead, the
// last one can take too. So there is no recursion, and no pattern takes exponential time.
#include "base/pattern.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

struct name {
	const char *start;
	size_t length; // 0: the end
};

// Returns the next name, and moves the cursor behind it. Slashes in a row count as one.
static struct name next_name(const char **cursor)
{
	struct name name = { .start = *cursor + strspn(*cursor, "/") };

	name.length = strcspn(name.start, "/");
	*cursor = name.start + name.length;
	return name;
}

static bool is_word(struct name name, const char *word)
{
	return name.length == strlen(word) && memcmp(name.start, word, name.length) == 0;
}

// Returns whether a name matches a part of a pattern that is not "**".
static bool name_matches(struct name pattern, struct name name)
{
	size_t at = 0;
	size_t in = 0;
	size_t star = pattern.length; // behind the last '*'
	size_t taken = 0;             // where the name goes on behind it
	bool has_star = false;

	while (in < name.length) {
		if (at < pattern.length && pattern.start[at] == '*') {
			star = ++at;
			taken = in;
			has_star = true;
		} else if (at < pattern.length && pattern.start[at] == name.start[in]) {
			at++;
			in++;
		} else if (has_star) {
			at = star;
			in = ++taken;
		} else {
			return false;
		}
	}
	while (at < pattern.length && pattern.start[at] == '*')
		at++;
	return at == pattern.length;
}

bool pattern_matches(const char *pattern, const char *path)
{
	const char *star = NULL;  // the pattern behind the last "**"
	const char *taken = NULL; // where the path goes on behind it

	for (;;) {
		const char *pattern_next = pattern;
		const char *path_next = path;
		struct name part = next_name(&pattern_next);
		struct name name = next_name(&path_next);

		if (is_word(part, "**")) {
			star = pattern = pattern_next;
			taken = path;
		} else if (!part.length && !name.length) {
			return true;
		} else if (part.length && name.length && name_matches(part, name)) {
			pattern = pattern_next;
			path = path_next;
		} else if (star && next_name(&taken).length) {
			pattern = star;
			path = taken;
		} else {
			return false;
		}
	}
}

size_t pattern_weight(const char *pattern)
{
	size_t bytes = 0;
	bool any_depth = false;

	for (;;) {
		struct name part = next_name(&pattern);

		if (!part.length)
			return 2 * bytes + !any_depth;
		if (is_word(part, "**")) {
			any_depth = true;
			continue;
		}
		bytes++; // its slash
		for (size_t i = 0; i < part.length; i++)
			bytes += part.start[i] != '*';
	}
}

const char *pattern_beginning(struct arena *arena, const char *pattern, const char **ret_rest)
{
	const char *end = strchr(pattern, '*');

	if (!end)
		end = pattern + strlen(pattern);
	else
		while (end > pattern && *end != '/')
			end--;
	*ret_rest = end;
	return end > pattern ? arena_strndup(arena, pattern, (size_t)(end - pattern)) : "/";
}

const char *pattern_problem(const char *pattern)
{
	if (pattern[0] == '~' && pattern[1] && pattern[1] != '/')
		return "names the home directory of another user: write the full path";
	if (pattern[0] != '/' && pattern[0] != '~')
		return "is not a full path: begin it with / or ~/";
	pattern += pattern[0] == '~';
	for (;;) {
		struct name part = next_name(&pattern);

		if (!part.length)
			return NULL;
		if (is_word(part, ".") || is_word(part, ".."))
			return "contains '.' or '..': write the path without it";
		if (part.length > 2 && memmem(part.start, part.length, "**", 2))
			return "has '**' beside other characters: it must be a whole name";
	}
}
