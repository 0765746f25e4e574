// SPDX-License-Identifier: MIT
// Writes settings of package managers.
#include "plan/registries/render.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"

#include <ctype.h>
#include <string.h>

static const char *key_of(const struct setting *setting)
{
	return setting->steps[setting->depth - 1].name;
}

const char *settings_render_lines(struct arena *arena, const setting_list *list)
{
	struct text out = { .arena = arena };

	vec_each(setting, list) {
		vec_each(value, &setting->values)
			text_printf(&out, "%s%s=%s\n", key_of(setting), setting->list ? "[]" : "",
				    *value);
	}
	return text_get(&out);
}

const char *settings_render_yarnrc(struct arena *arena, const setting_list *list)
{
	struct text out = { .arena = arena };

	vec_each(setting, list)
		text_printf(&out, "\"%s\" \"%s\"\n", key_of(setting), setting->values.items[0]);
	return text_get(&out);
}

// Returns whether no earlier setting has the same table, so that its heading has to be written.
static bool starts_table(const setting_list *list, const struct setting *setting)
{
	for (const struct setting *before = list->items; before < setting; before++)
		if (before->depth == setting->depth &&
		    setting_same_path(before, setting, setting->depth - 1))
			return false;
	return true;
}

// Calls `add` for each setting, and `head` before the first one of each table. The settings of a
// table may lie apart in the list.
static const char *render_tables(struct arena *arena, const setting_list *list,
				 void (*head)(struct text *out, const struct setting *setting),
				 void (*add)(struct text *out, const struct setting *setting))
{
	struct text out = { .arena = arena };

	vec_each(first, list) {
		if (!starts_table(list, first))
			continue;
		head(&out, first);
		for (const struct setting *one = first; one < list->items + list->count; one++)
			if (one->depth == first->depth &&
			    setting_same_path(one, first, first->depth - 1))
				add(&out, one);
	}
	return text_get(&out);
}

static void head_section(struct text *out, const struct setting *setting)
{
	text_printf(out, "[%s]\n", setting->steps[0].name);
}

static void add_section_line(struct text *out, const struct setting *setting)
{
	text_printf(out, "%s =", key_of(setting));
	vec_each(value, &setting->values)
		text_printf(out, "%s%s", setting->values.count > 1 ? "\n    " : " ", *value);
	text_add(out, "\n");
}

const char *settings_render_sections(struct arena *arena, const setting_list *list)
{
	return render_tables(arena, list, head_section, add_section_line);
}

static void add_quoted(struct text *out, const struct setting *setting, const char *value)
{
	text_printf(out, setting->plain ? "%s" : "\"%s\"", value);
}

static void add_toml_key(struct text *out, const char *name)
{
	bool bare = true;

	for (const char *s = name; *s; s++)
		bare &= isalnum((unsigned char)*s) || *s == '_' || *s == '-';
	text_printf(out, bare ? "%s" : "\"%s\"", name);
}

static void head_table(struct text *out, const struct setting *setting)
{
	bool array = setting->depth > 1 && setting->steps[setting->depth - 2].number;

	if (setting->depth == 1)
		return;
	text_add(out, array ? "[[" : "[");
	for (size_t i = 0; i + 1 < setting->depth; i++) {
		text_add(out, i ? "." : "");
		add_toml_key(out, setting->steps[i].name);
	}
	text_add(out, array ? "]]\n" : "]\n");
}

static void add_toml_line(struct text *out, const struct setting *setting)
{
	add_toml_key(out, key_of(setting));
	text_add(out, setting->list ? " = [" : " = ");
	vec_each(value, &setting->values) {
		text_add(out, value == setting->values.items ? "" : ", ");
		add_quoted(out, setting, *value);
	}
	text_add(out, setting->list ? "]\n" : "\n");
}

// Returns the settings with those of the top first: behind a table, a key would belong to it.
static setting_list top_first(struct arena *arena, const setting_list *list)
{
	setting_list sorted = { 0 };

	for (int top = 1; top >= 0; top--)
		vec_each(setting, list) {
			if ((setting->depth == 1) == top)
				vec_push(arena, &sorted, *setting);
		}
	return sorted;
}

const char *settings_render_toml(struct arena *arena, const setting_list *list)
{
	setting_list sorted = top_first(arena, list);

	return render_tables(arena, &sorted, head_table, add_toml_line);
}

// Returns how many steps a setting shares with the one before it.
static size_t shared_steps(const setting_list *list, const struct setting *setting)
{
	size_t shared = 0;

	while (setting > list->items && shared + 1 < setting->depth &&
	       shared + 1 < setting[-1].depth &&
	       setting_same_path(&setting[-1], setting, shared + 1))
		shared++;
	return shared;
}

static void add_yaml_key(struct text *out, size_t depth, const char *name)
{
	bool bare = isalpha((unsigned char)*name) || *name == '_' || *name == ':';

	text_printf(out, bare ? "%*s%s:" : "%*s\"%s\":", (int)(2 * depth), "", name);
}

const char *settings_render_yaml(struct arena *arena, const setting_list *list)
{
	struct text out = { .arena = arena };

	vec_each(setting, list) {
		size_t last = setting->depth - 1;

		for (size_t i = shared_steps(list, setting); i < last; i++) {
			add_yaml_key(&out, i, setting->steps[i].name);
			text_add(&out, "\n");
		}
		add_yaml_key(&out, last, key_of(setting));
		vec_each(value, &setting->values) {
			bool plain = setting->plain && !strpbrk(*value, ":@!$&*{}[]|%,?");

			if (setting->list)
				text_printf(&out, "\n%*s-", (int)(2 * last + 2), "");
			text_printf(&out, plain ? " %s" : " \"%s\"", *value);
		}
		text_add(&out, "\n");
	}
	return text_get(&out);
}

static void add_xml_text(struct text *out, const char *value)
{
	for (; *value; value++)
		if (*value == '&')
			text_add(out, "&amp;");
		else
			text_add_bytes(out, value, 1);
}

static void close_elements(struct text *out, const struct setting *setting, size_t down_to)
{
	for (size_t i = setting->depth - 1; i > down_to; i--)
		text_printf(out, "%*s</%s>\n", (int)(2 * i), "", setting->steps[i - 1].name);
}

const char *settings_render_maven(struct arena *arena, const setting_list *list)
{
	struct text out = { .arena = arena };
	const struct setting *before = NULL;

	if (!list->count)
		return "";
	text_add(&out, "<settings>\n");
	vec_each(setting, list) {
		size_t last = setting->depth - 1;
		size_t shared = shared_steps(list, setting);

		if (before)
			close_elements(&out, before, shared);
		for (size_t i = shared; i < last; i++)
			text_printf(&out, "%*s<%s>\n", (int)(2 * i + 2), "",
				    setting->steps[i].name);
		text_printf(&out, "%*s<%s>", (int)(2 * last + 2), "", key_of(setting));
		add_xml_text(&out, setting->values.items[0]);
		text_printf(&out, "</%s>\n", key_of(setting));
		before = setting;
	}
	if (before)
		close_elements(&out, before, 0);
	text_add(&out, "</settings>\n");
	return text_get(&out);
}
