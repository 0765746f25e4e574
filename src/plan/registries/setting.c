// SPDX-License-Identifier: MIT
// Helpers of the parsers of package manager settings.
#include "plan/registries/setting.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

static const char blanks[] = " \t\r";

struct setting *setting_add(struct parsed *parsed, const struct setting_step *steps, size_t depth,
			    const char *value)
{
	struct setting setting = { .depth = depth < MOST_STEPS ? depth : MOST_STEPS,
				   .line = parsed->line };

	if (parsed->list.count == MOST_SETTINGS)
		return NULL;
	memcpy(setting.steps, steps, setting.depth * sizeof(*steps));
	if (value)
		vec_push(parsed->arena, &setting.values, value);
	vec_push(parsed->arena, &parsed->list, setting);
	return &parsed->list.items[parsed->list.count - 1];
}

bool setting_same_path(const struct setting *a, const struct setting *b, size_t depth)
{
	if (a->depth < depth || b->depth < depth)
		return false;
	for (size_t i = 0; i < depth; i++)
		if (a->steps[i].number != b->steps[i].number ||
		    !str_equal(a->steps[i].name, b->steps[i].name))
			return false;
	return true;
}

char *setting_next_line(struct parsed *parsed, const char **text)
{
	char *line;
	size_t length;

	if (parsed->line == 0 && str_starts(*text, "\xef\xbb\xbf")) // a byte order mark
		*text += 3;
	line = str_next_line(parsed->arena, text);
	if (!line)
		return NULL;
	parsed->line++;
	length = strlen(line);
	while (length && strchr(blanks, line[length - 1]))
		line[--length] = '\0';
	return line;
}

const char *setting_trim(struct arena *arena, const char *text, size_t length)
{
	while (length && strchr(blanks, text[length - 1]))
		length--;
	while (length && strchr(blanks, *text)) {
		text++;
		length--;
	}
	return arena_strndup(arena, text, length);
}
