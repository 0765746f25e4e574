// SPDX-License-Identifier: MIT
// Finds secrets in the configuration of a git repository, line by line. It does not need the parser
// of git: a line that it misunderstands is still searched.
#include "plan/secrets/git_config.h"

#include "base/text.h"
#include "plan/secrets/detect.h"

#include <string.h>

// Returns the name of a section as git writes it: remote.origin for [remote "origin"]. A name that
// contains a secret itself, as in [url "https://user:password@host/"], is cut.
static const char *section_name(struct arena *arena, const char *line)
{
	size_t length = strcspn(line + 1, "]");
	size_t kept = 0;
	char *name = arena_strndup(arena, line + 1, length);
	size_t start;

	for (size_t i = 0; name[i]; i++)
		if (name[i] != '"' && name[i] != '\\')
			name[kept++] = name[i];
	name[kept] = '\0';
	for (char *blank = name; (blank = strchr(blank, ' '));)
		*blank = '.';
	if (secret_find(name, &start, &length))
		name[strcspn(name, ".")] = '\0';
	return name;
}

static void add(struct arena *arena, strings *found, const char *name)
{
	vec_each(known, found)
		if (str_equal(*known, name))
			return;
	vec_push(arena, found, name);
}

void secret_git_config(struct arena *arena, const char *text, strings *found)
{
	const char *section = "";
	const char *line;
	size_t start;
	size_t length;

	while ((line = str_next_line(arena, &text))) {
		const char *key;
		const char *value;

		line += strspn(line, " \t");
		if (*line == '#' || *line == ';')
			continue;
		if (*line == '[') {
			section = section_name(arena, line);
			if (secret_find(line, &start, &length))
				add(arena, found, section);
			continue;
		}
		key = arena_strndup(arena, line, strcspn(line, " \t="));
		value = line + strlen(key);
		value += strspn(value, " \t=\"");
		if (!secret_text(key, value))
			continue;
		// A continuation line has no key.
		if (!env_name_valid(key, strlen(key)))
			key = "*";
		add(arena, found, arena_printf(arena, "%s.%s", section, key));
	}
}
