// SPDX-License-Identifier: MIT
// Conditions of includeIf in a git configuration.
#include "probe/git/condition.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"

#include <fnmatch.h>
#include <string.h>

// Returns the parts of a text between its slashes.
static strings split_path(struct arena *arena, const char *text)
{
	strings parts = { 0 };

	for (;; text++) {
		size_t length = strcspn(text, "/");

		vec_push(arena, &parts, arena_strndup(arena, text, length));
		text += length;
		if (!*text)
			return parts;
	}
}

// How a text is compared with a pattern.
struct comparison {
	int flags;    // of fnmatch()
	size_t *work; // that is left
};

// Takes from the work that is left. Returns false if there is not enough.
static bool spend(const struct comparison *comparison, size_t work)
{
	bool enough = *comparison->work >= work;

	*comparison->work -= enough ? work : *comparison->work;
	return enough;
}

// Compares parts with those of a pattern, in which "**" stands for any number of them; at the end,
// for at least one.
static bool match_parts(const char *const *pattern, size_t patterns, const char *const *parts,
			size_t count, const struct comparison *comparison)
{
	for (; patterns; pattern++, patterns--, parts++, count--) {
		if (str_equal(*pattern, "**")) {
			while (patterns > 1 && str_equal(pattern[1], "**")) {
				pattern++;
				patterns--;
			}
			if (patterns == 1)
				return count > 0;
			for (; count; parts++, count--)
				if (match_parts(pattern + 1, patterns - 1, parts, count,
						comparison))
					return true;
			return false;
		}
		if (!count || !spend(comparison, 1 + strlen(*parts)) ||
		    fnmatch(*pattern, *parts, comparison->flags) != 0)
			return false;
	}
	return count == 0;
}

static bool match(struct arena *arena, const char *pattern, const char *text,
		  const struct git_place *place, int flags)
{
	const struct comparison comparison = { .flags = flags, .work = place->work };
	strings patterns;
	strings parts;

	if (!spend(&comparison, strlen(pattern) + strlen(text)))
		return false;
	patterns = split_path(arena, pattern);
	parts = split_path(arena, text);
	return match_parts(patterns.items, patterns.count, parts.items, parts.count, &comparison);
}

// Returns a pattern that ends in '/' with the "**" that git adds to it.
static const char *complete(struct arena *arena, const char *pattern)
{
	return str_ends(pattern, "/") ? arena_printf(arena, "%s**", pattern) : pattern;
}

// Returns a path in which no character has a meaning in a pattern.
static const char *escape(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };

	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			text_add(&out, "\\");
		text_add_bytes(&out, path, 1);
	}
	return text_get(&out);
}

static bool match_directory(struct arena *arena, const char *pattern, const char *file,
			    const struct git_place *place, int flags)
{
	pattern = complete(arena, pattern);
	if (str_starts(pattern, "~/"))
		pattern = arena_printf(arena, "%s%s", escape(arena, place->home), pattern + 1);
	else if (str_starts(pattern, "./"))
		pattern = arena_printf(arena, "%s%s", escape(arena, path_parent(arena, file)),
				       pattern + 1);
	else if (*pattern != '/')
		pattern = arena_printf(arena, "**/%s", pattern);
	return match(arena, pattern, place->directory, place, flags);
}

static bool match_url(struct arena *arena, const char *pattern, const struct git_place *place)
{
	vec_each(url, &place->urls) {
		if (match(arena, pattern, *url, place, 0))
			return true;
	}
	return false;
}

bool git_condition_holds(struct arena *arena, const char *condition, const char *file,
			 const struct git_place *place)
{
	const char *pattern;

	if ((pattern = str_after(condition, "gitdir:")))
		return match_directory(arena, pattern, file, place, 0);
	if ((pattern = str_after(condition, "gitdir/i:")))
		return match_directory(arena, pattern, file, place, FNM_CASEFOLD);
	if ((pattern = str_after(condition, "onbranch:")))
		return place->branch &&
		       match(arena, complete(arena, pattern), place->branch, place, 0);
	if ((pattern = str_after(condition, "hasconfig:remote.*.url:")))
		return match_url(arena, pattern, place);
	return false;
}
