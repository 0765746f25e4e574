// SPDX-License-Identifier: MIT
// Writes settings in the syntax of git configuration files.
#include "plan/git/render.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/facts.h"
#include "plan/git/settings.h"

#include <string.h>

// Returns whether git reads a value without quotation marks as it is.
static bool is_plain(const char *value)
{
	size_t length = strlen(value);

	for (const char *s = value; *s; s++)
		if (strchr("\"\\#;", *s) || (unsigned char)*s < ' ' || (*s == ' ' && s[1] == ' '))
			return false;
	return length && value[0] != ' ' && value[length - 1] != ' ';
}

const char *git_render_value(struct arena *arena, const char *value)
{
	static const char bytes[] = "\"\\\n\t\b";
	static const char names[] = "\"\\ntb";
	struct text out = { .arena = arena };

	if (is_plain(value))
		return value;
	text_add(&out, "\"");
	for (const char *s = value; *s; s++) {
		const char *found = strchr(bytes, *s);

		if (found)
			text_add(&out, "\\");
		text_add_bytes(&out, found ? names + (found - bytes) : s, 1);
	}
	text_add(&out, "\"");
	return text_get(&out);
}

static void add_header(struct text *out, const struct git_name *name)
{
	text_printf(out, "[%s", name->section);
	if (name->subsection) {
		text_add(out, " \"");
		for (const char *s = name->subsection; *s; s++) {
			if (*s == '"' || *s == '\\')
				text_add(out, "\\");
			text_add_bytes(out, s, 1);
		}
		text_add(out, "\"");
	}
	text_add(out, "]\n");
}

void git_render_entry(struct text *out, const char *key, const char *value)
{
	text_printf(out, "\t%s", key);
	if (value)
		text_printf(out, " = %s", git_render_value(out->arena, value));
	text_add(out, "\n");
}

void git_render_settings(struct text *out, const git_settings *settings)
{
	struct git_name before = { .section = "" };

	vec_each(setting, settings) {
		struct git_name name = git_name_split(out->arena, setting->name);

		if (!str_equal(name.section, before.section) ||
		    !str_equal(name.subsection, before.subsection))
			add_header(out, &name);
		git_render_entry(out, name.key, setting->value);
		before = name;
	}
}
