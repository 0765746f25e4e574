// SPDX-License-Identifier: MIT
// The text of --help, from the option table.
#include "config/options/help.h"

#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/options/table.h"

#include <string.h>

// Help in a pipe has a fixed width, in which each option is one line.
enum { PIPE_COLUMNS = 100, NARROW_COLUMNS = 60 };

// Returns the first column of a row: "-y, --yes".
static const char *help_name(struct arena *arena, const struct option_row *row)
{
	const char *word = option_word(row);
	const char *value = row->argument == ARGUMENT_WORD || row->argument == ARGUMENT_GC
				    ? arena_printf(arena, "[=%s]", row->value_name)
			    : word            ? arena_printf(arena, "[=%s]", word)
			    : row->value_name ? arena_printf(arena, " %s", row->value_name)
					      : "";

	if (row->letter)
		return arena_printf(arena, "-%c, --%s%s", row->letter, row->name, value);
	return arena_printf(arena, "    --%s%s", row->name, value);
}

static void add_help_row(struct screen *screen, const char *name, size_t name_columns,
			 const char *help)
{
	bool narrow = screen_narrow(screen, NARROW_COLUMNS);
	size_t indent = narrow ? 8 : 2 + name_columns + 2;

	text_printf(&screen->out, "  %s", name);
	if (narrow)
		screen_end_line(screen, indent);
	else
		screen_add_blanks(screen, name_columns - strlen(name) + 2);
	screen_add_wrapped(screen, STYLE_PLAIN, help, indent);
}

const char *options_render_help(struct arena *arena, struct reader reader)
{
	static const struct {
		const char *name;
		const char *help;
	} variables[] = {
		{ "CLAUDEBOX_EXTRA_ENV",
		  "names of more variables to pass into the box, comma-separated" },
		{ "CLAUDEBOX_PROFILE", "the profile, if there is no --profile" },
		{ "CLAUDEBOX_CLAUDE", "the claude to start, instead of the one on PATH" },
	};
	struct screen screen = screen_for(arena, reader);
	size_t columns = 0;

	if (!reader.terminal)
		screen.reader.columns = PIPE_COLUMNS;
	for (size_t i = 0; i < option_table_count; i++) {
		size_t length = strlen(help_name(arena, &option_table[i]));

		columns = length > columns ? length : columns;
	}
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   "usage: claudebox [options] [arguments for claude]", 7);
	text_add(&screen.out, "\n");
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   "Starts Claude Code in a sandbox: it has full access to this directory "
			   "and none to your other files.",
			   0);
	text_add(&screen.out, "\n");
	for (size_t i = 0; i < option_table_count; i++)
		add_help_row(&screen, help_name(arena, &option_table[i]), columns,
			     option_table[i].help);
	text_add(&screen.out, "\nenvironment:\n");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		add_help_row(&screen, variables[i].name, columns, variables[i].help);
	text_add(&screen.out, "\n");
	screen_add_wrapped(
		&screen, STYLE_PLAIN,
		"exit status: that of the agent (128+N if signal N killed it); 123 "
		"the guard of the project ended the box; 125 nothing was started (an error, or the answer was no); 126 or 127 the command cannot be "
		"executed or found; 2 wrong usage; 1 a check found a problem, an attack "
		"succeeded, or --gc could not remove everything",
		0);
	return text_get(&screen.out);
}
