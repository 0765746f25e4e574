// SPDX-License-Identifier: MIT
// Lexical operations on absolute paths.
#include "base/path.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

const char *path_join(struct arena *arena, const char *directory, const char *name)
{
	size_t before = strlen(directory);
	size_t after = strlen(name);
	char *path;

	if (name[0] == '/')
		return arena_strndup(arena, name, after);
	before -= before && directory[before - 1] == '/';
	path = arena_alloc(arena, before + after + 2);
	memcpy(path, directory, before);
	path[before] = '/';
	memcpy(path + before + 1, name, after);
	return path;
}

const char *path_parent(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return "/";
	return arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *path_clean(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };

	for (const char *s = path; *s;) {
		size_t length = strcspn(s, "/");

		if (length == 2 && memcmp(s, "..", 2) == 0) {
			while (out.length && out.data[--out.length] != '/')
				;
			if (out.data)
				out.data[out.length] = '\0';
		} else if (length && !(length == 1 && *s == '.')) {
			text_add(&out, "/");
			text_add_bytes(&out, s, length);
		}
		s += length;
		s += strspn(s, "/");
	}
	return out.length ? text_get(&out) : "/";
}

// Runs thousands of times at each start, mostly with the result false, so it stops at the first
// byte that differs.
bool path_within(const char *path, const char *directory)
{
	size_t length = 0;

	while (directory[length] && directory[length] == path[length])
		length++;
	if (directory[length])
		return false;
	return path[length] == '\0' || path[length] == '/' || (length == 1 && *path == '/');
}

bool path_overlaps(const char *a, const char *b)
{
	size_t length = 0;

	while (a[length] && a[length] == b[length])
		length++;
	if (a[length] && b[length])
		return false;
	return a[length] == b[length] || a[length] == '/' || b[length] == '/' ||
	       (length == 1 && *a == '/');
}

const char *path_tilde(struct arena *arena, const char *path, const char *home)
{
	if (home && !str_equal(home, "/") && path_within(path, home))
		return arena_printf(arena, "~%s", path + strlen(home));
	return path;
}

const char *path_expand_home(struct arena *arena, const char *word, const char *home)
{
	static const char *const homes[] = { "~/", "$HOME/", "${HOME}/" };

	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		const char *rest = str_after(word, homes[i]);

		if (rest)
			return path_join(arena, home, rest + strspn(rest, "/"));
	}
	return word;
}
