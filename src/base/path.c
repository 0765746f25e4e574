// SPDX-License-Identifier: MIT
// Lexical work on absolute paths.
#include "base/path.h"

#include "base/text.h"

#include <string.h>

const char *path_join(struct arena *arena, const char *directory, const char *name)
{
	if (name[0] == '/')
		return arena_strdup(arena, name);
	return arena_printf(arena, "%s%s%s", directory, str_ends(directory, "/") ? "" : "/", name);
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

bool path_within(const char *path, const char *directory)
{
	const char *rest = str_after(path, directory);

	if (str_equal(directory, "/"))
		return path[0] == '/';
	return rest && (*rest == '\0' || *rest == '/');
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
			return path_join(arena, home, rest);
	}
	return word;
}
