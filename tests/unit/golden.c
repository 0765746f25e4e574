// SPDX-License-Identifier: MIT
// Picks lines of a plan.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "fixture.h"
#include "golden.h"
#include "plan/plan.h"
#include "render/audit.h"
#include "render/bwrap.h"

#include <string.h>

bool show_plan(struct text *out, struct world *world)
{
	if (world_plan(world))
		return true;
	text_printf(out, "error: %s\n", world->error.message);
	if (world->error.hint)
		text_printf(out, "hint: %s\n", world->error.hint);
	return false;
}

void show_title(struct text *out, const char *title)
{
	text_printf(out, "%s%s:\n", out->length ? "\n" : "", title);
}

static void show_option(struct text *out, const struct bwrap_option *option)
{
	text_add(out, option->flag);
	if (option->operand == OPERAND_DATA)
		text_add(out, " (made)");
	if (option->operand == OPERAND_SECCOMP)
		text_printf(out, " (%s)", option->filter->name);
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments); i++)
		if (option->arguments[i])
			text_printf(out, " %s", option->arguments[i]);
	if (option->staged)
		text_add(out, " (staged)");
	text_add(out, "\n");
}

void show_flag(struct text *out, struct world *world, const char *flag)
{
	bwrap_options options = render_bwrap(&world->plan, &world->arena);

	vec_each(option, &options) {
		if (str_equal(option->flag, flag))
			show_option(out, option);
	}
}

void show_below(struct text *out, struct world *world, const char *path)
{
	bwrap_options options = render_bwrap(&world->plan, &world->arena);

	vec_each(option, &options) {
		const char *place = option->arguments[1] ? option->arguments[1]
							 : option->arguments[0];

		if (option->operand != OPERAND_VARIABLE && place && path_within(place, path))
			show_option(out, option);
	}
}

void show_why(struct text *out, struct world *world, const char *why)
{
	struct plan picked = { .project = "", .hostname = "" };
	bwrap_options options;

	vec_each(mount, &world->plan.mounts) {
		if (str_equal(mount->why, why))
			vec_push(&world->arena, &picked.mounts, *mount);
	}
	options = render_bwrap(&picked, &world->arena);
	vec_each(option, &options) {
		if (option->mount || str_equal(option->flag, "--symlink"))
			show_option(out, option);
	}
}

void show_variable(struct text *out, const struct world *world, const char *name)
{
	vec_each(variable, &world->plan.variables) {
		if (str_equal(variable->name, name)) {
			text_printf(out, "%s %s=%s (%s)\n", origin_marks[variable->origin], name,
				    variable->value, variable->why);
			return;
		}
	}
	text_printf(out, "%s is not set\n", name);
}

void show_data(struct text *out, const struct world *world, const char *path)
{
	const char *content = world_data(world, path);

	text_printf(out, "%s:\n%s", path, content ? content : "(none)\n");
}

void show_command(struct text *out, const struct world *world)
{
	vec_each(word, &world->plan.command)
		text_printf(out, "<%s>", *word);
	text_add(out, "\n");
}

void show_warnings(struct text *out, const struct world *world)
{
	vec_each(warning, &world->plan.warnings)
		text_printf(out, "! %s\n", *warning);
}

void show_state(struct text *out, const struct world *world)
{
	vec_each(link, &world->plan.state.links)
		text_printf(out, "link %s -> %s\n", link->name, link->target);
	vec_each(file, &world->plan.state.files)
		text_printf(out, "file %s%s%s:\n%s", file->name,
			    file->keep_as ? ", the old one becomes " : "",
			    file->keep_as ? file->keep_as : "", file->content);
}

void show_lines(struct text *out, struct arena *arena, const char *text, const char *needle)
{
	for (const char *s = text; *s;) {
		size_t length = strcspn(s, "\n");
		const char *line = arena_strndup(arena, s, length);

		if (strstr(line, needle))
			text_printf(out, "%s\n", line);
		s += length + (s[length] == '\n');
	}
}
