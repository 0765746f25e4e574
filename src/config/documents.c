// SPDX-License-Identifier: MIT
// Renders the option table for scdoc, bash, zsh and fish.
#include "config/documents.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/options/table.h"
#include <string.h>

// How the shells complete a value, by its name in the option table. The last row is for other
// names.
static const struct value_row {
	const char *name;
	const char *kind; // its name in the scripts
	const char *zsh;  // the action that completes it
	const char *fish; // how the option is declared
} value_table[] = {
	{ "NAME", "profile", "_claudebox_profiles", "-x -a '(__claudebox_profiles)'" },
	{ "TIER", "tier", "_claudebox_tiers", "-x -a '(__claudebox_tiers)'" },
	{ "PATH[:DEST]", "mount", "_claudebox_mounts", "-r -F" },
	{ "DIR", "mount", "_claudebox_mounts", "-r -F" },
	{ "ID", "mount", "_claudebox_mounts", "-r -F" }, // or a directory
	{ NULL, "value", "", "-x" },
};

static const struct value_row *value_row(const struct option_row *row)
{
	const struct value_row *value = value_table;

	while (value->name && !str_equal(value->name, row->value_name))
		value++;
	return value;
}

static const char *kind_of(const struct option_row *row)
{
	switch (row->argument) {
	case ARGUMENT_NONE:
		return "none";
	case ARGUMENT_GC:
		return "gc";
	case ARGUMENT_JSON:
	case ARGUMENT_FULL:
	case ARGUMENT_STAT:
	case ARGUMENT_COMMITS:
		return option_word(row);
	case ARGUMENT_WORD:
		return "word";
	case ARGUMENT_REST:
		return "rest";
	case ARGUMENT_REQUIRED:
		break;
	}
	return value_row(row)->kind;
}

static void add_escaped(struct text *out, const char *text, const char *special, const char *escape)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			text_add(out, escape);
		text_add_bytes(out, text, 1);
	}
}

static const char *scdoc_text(struct arena *arena, const char *plain)
{
	struct text out = { .arena = arena };

	add_escaped(&out, plain, "\\*_", "\\");
	return text_get(&out);
}

static const char *render_manual(struct arena *arena)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		text_add(&out, "\n");
		if (row->letter)
			text_printf(&out, "*-%c*, ", row->letter);
		text_printf(&out, "*--%s*", row->name);
		if (row->argument == ARGUMENT_WORD || row->argument == ARGUMENT_GC)
			text_printf(&out, "[=_%s_]", scdoc_text(arena, row->value_name));
		else if (option_word(row))
			text_printf(&out, "[=%s]", option_word(row));
		else if (row->value_name)
			text_printf(&out, " _%s_", scdoc_text(arena, row->value_name));
		text_printf(&out, "\n\t%s\n", scdoc_text(arena, row->help));
	}
	text_add(&out, "\n");
	return text_get(&out);
}

static void add_tiers(struct text *out)
{
	for (int tier = 0; tier < NETWORK_TIER_COUNT; tier++)
		text_printf(out, "%s%s", tier ? " " : "", network_tier_names[tier]);
}

static const char *render_bash(struct arena *arena)
{
	struct text out = { .arena = arena };

	text_add(&out, "_claudebox_table() {\n\tlocal option=$1\n\ttiers=(");
	add_tiers(&out);
	text_add(&out, ")\n\town=(\n");
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		text_add(&out, "\t\t");
		if (row->letter)
			text_printf(&out, "-%c ", row->letter);
		text_printf(&out, "--%s", row->name);
		for (const char *words = option_word(row), *word;
		     words && (word = str_next_word(arena, &words));)
			text_printf(&out, " --%s=%s", row->name, word);
		text_add(&out, "\n");
	}
	text_add(&out, "\t)\n\tcase $option in\n");
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		text_add(&out, "\t");
		if (row->letter)
			text_printf(&out, "-%c | ", row->letter);
		text_printf(&out, "--%s) kind=%s ;;\n", row->name, kind_of(row));
	}
	text_add(&out, "\t*) kind='' ;;\n\tesac\n}\n");
	return text_get(&out);
}

// Adds a spec of _arguments, in single quotes.
static void add_zsh(struct text *out, const struct option_row *row)
{
	text_add(out, "\t\t");
	if (row->letter)
		text_printf(out, "'(-%c --%s)'{-%c,--%s}'", row->letter, row->name, row->letter,
			    row->name);
	else
		text_printf(out, "'%s--%s", row->argument == ARGUMENT_REQUIRED ? "*" : "",
			    row->name);
	if (row->argument == ARGUMENT_REQUIRED)
		text_add(out, "=");
	if (option_word(row))
		text_add(out, "=-");
	text_add(out, "[");
	for (const char *s = row->help; *s; s++) {
		if (*s == '\'')
			text_add(out, "'\\'");
		else if (*s == '[' || *s == ']' || *s == '\\')
			text_add(out, "\\");
		text_add_bytes(out, s, 1);
	}
	text_add(out, "]");
	if (option_word(row))
		text_printf(out, "::%s:(%s)", row->argument == ARGUMENT_JSON ? "format" : "what",
			    option_word(row));
	if (row->argument == ARGUMENT_REST)
		text_add(out, ":*::command:_normal");
	if (row->argument == ARGUMENT_REQUIRED) {
		text_add(out, ":");
		add_escaped(out, row->value_name, ":\\", "\\");
		text_printf(out, ":%s", value_row(row)->zsh);
	}
	text_add(out, "'\n");
}

static const char *render_zsh(struct arena *arena)
{
	struct text out = { .arena = arena };

	text_add(&out, "_claudebox_table() {\n\ttiers=(");
	add_tiers(&out);
	text_add(&out, ")\n\town=(\n");
	for (size_t i = 0; i < option_table_count; i++)
		add_zsh(&out, &option_table[i]);
	text_add(&out, "\t)\n\tkinds=(\n");
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		text_add(&out, "\t\t");
		if (row->letter)
			text_printf(&out, "-%c %s ", row->letter, kind_of(row));
		text_printf(&out, "--%s %s\n", row->name, kind_of(row));
	}
	text_add(&out, "\t)\n}\n");
	return text_get(&out);
}

static void add_fish(struct text *out, const struct option_row *row)
{
	text_add(out, "complete -c claudebox -n '__claudebox_in own'");
	if (row->letter)
		text_printf(out, " -s %c", row->letter);
	text_printf(out, " -l %s", row->name);
	if (option_word(row))
		text_printf(out, strchr(option_word(row), ' ') ? " -f -a '%s'" : " -f -a %s",
			    option_word(row));
	if (row->argument == ARGUMENT_REQUIRED)
		text_printf(out, " %s", value_row(row)->fish);
	text_add(out, " -d '");
	add_escaped(out, row->help, "\\'", "\\");
	text_add(out, "'\n");
}

static const char *render_fish(struct arena *arena)
{
	struct text out = { .arena = arena };

	text_add(&out, "function __claudebox_tiers\n    printf '%s\\n' ");
	add_tiers(&out);
	text_add(&out, "\nend\n\nfunction __claudebox_kind\n    switch $argv[1]\n");
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		text_add(&out, "        case");
		if (row->letter)
			text_printf(&out, " -%c", row->letter);
		text_printf(&out, " --%s\n            echo %s\n", row->name, kind_of(row));
	}
	text_add(&out, "    end\nend\n\n");
	for (size_t i = 0; i < option_table_count; i++)
		add_fish(&out, &option_table[i]);
	return text_get(&out);
}

const struct document documents[] = {
	{ "doc/claudebox.1.scd", ";", render_manual },
	{ "completions/claudebox.bash", "#", render_bash },
	{ "completions/_claudebox", "#", render_zsh },
	{ "completions/claudebox.fish", "#", render_fish },
};
const size_t document_count = ARRAY_SIZE(documents);
