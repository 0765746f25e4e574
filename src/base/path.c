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

// Returns whether path_clean() would change nothing.
static bool is_clean(const char *path)
{
	const char *slash = path;

	if (*path != '/')
		return false;
	while (slash && slash[1]) {
		const char *name = slash + 1;

		if (*name == '/' || (*name == '.' && (name[1] == '/' || !name[1])) ||
		    (*name == '.' && name[1] == '.' && (name[2] == '/' || !name[2])))
			return false;
		slash = strchr(name, '/');
	}
	return !slash || slash == path;
}

const char *path_clean(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };

	if (is_clean(path)) // as almost every path is; a text takes 256 bytes
		return arena_strdup(arena, path);
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

// Returns whether a path that equals `directory` in its first `length` bytes, all that `directory`
// has, is in it.
static bool ends_component(const char *path, size_t length)
{
	return path[length] == '\0' || path[length] == '/' || (length == 1 && *path == '/');
}

// Runs thousands of times at each start, mostly with the result false, so it stops at the first
// byte that differs.
bool path_within(const char *path, const char *directory)
{
	size_t length = 0;

	while (directory[length] && directory[length] == path[length])
		length++;
	return !directory[length] && ends_component(path, length);
}

bool path_overlaps(const char *a, const char *b)
{
	size_t length = 0;

	while (b[length] && b[length] == a[length])
		length++;
	return (!b[length] && ends_component(a, length)) ||
	       (!a[length] && ends_component(b, length));
}

// Paths of the tables differ most in their lengths and at their ends.
unsigned int path_key(const char *path)
{
	size_t length = strlen(path);
	unsigned int key = (unsigned int)length;

	for (size_t i = length > 4 ? length - 4 : 0; i < length; i++)
		key = key * 67 + (unsigned char)path[i];
	return key ? key : 1;
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
