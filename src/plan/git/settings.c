// SPDX-License-Identifier: MIT
// Small functions on settings of git.
#include "plan/git/settings.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/facts.h"

#include <string.h>
#include <strings.h>

enum { TEXT_LIMIT = 4096 };

const struct git_setting *git_setting_last(const git_settings *settings, const char *name)
{
	for (size_t i = settings->count; i-- > 0;)
		if (str_equal(settings->items[i].name, name))
			return &settings->items[i];
	return NULL;
}

bool git_setting_is_true(const struct git_setting *setting)
{
	static const char *const words[] = { "false", "no", "off", "" };

	if (!setting)
		return false;
	for (size_t i = 0; setting->value && i < ARRAY_SIZE(words); i++)
		if (strcasecmp(setting->value, words[i]) == 0)
			return false;
	// A number is true unless it is 0.
	return !setting->value || setting->value[strspn(setting->value, "+-0")] != '\0';
}

struct git_name git_name_split(struct arena *arena, const char *name)
{
	const char *first = strchr(name, '.');
	const char *last = strrchr(name, '.');

	if (!first)
		return (struct git_name){ .section = "", .key = name };
	return (struct git_name){
		.section = arena_strndup(arena, name, (size_t)(first - name)),
		.subsection = first == last
				      ? NULL
				      : arena_strndup(arena, first + 1, (size_t)(last - first) - 1),
		.key = last + 1,
	};
}

void git_add_once(struct arena *arena, strings *list, const char *text, size_t limit)
{
	vec_each(known, list) {
		if (str_equal(*known, text))
			return;
	}
	if (list->count < limit)
		vec_push(arena, list, text);
}

bool git_value_is_text(const char *value)
{
	for (const char *s = value; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			return false;
	return strlen(value) <= TEXT_LIMIT;
}
