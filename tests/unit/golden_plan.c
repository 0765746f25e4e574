// SPDX-License-Identifier: MIT
// Renders a plan for the files of a golden case.
#include "golden_plan.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/screen.h"
#include "base/text.h"
#include "fixture.h"
#include "golden_screens.h"
#include "plan/plan.h"
#include "render/dry_run.h"
#include "render/json.h"
#include "render/network.h"

#include <string.h>

#define INSTRUCTIONS BOX_POLICY "/CLAUDE.md"

static bool fits_a_line(const json_t *value)
{
	size_t i;
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)value, key, member) {
		if (json_is_object(member) || json_is_array(member))
			return false;
	}
	json_array_foreach(value, i, member)
		return false;
	return true;
}

// Adds a value in as few lines as can be compared well: a row of a list has one.
static void add_json(struct text *out, const json_t *value, int indent)
{
	bool list = json_is_array(value);
	const char *comma = "\n";
	const char *key;
	json_t *member;
	size_t i;

	if (fits_a_line(value)) {
		text_add(out, json_write(out->arena, value,
					 JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT));
		out->data[--out->length] = '\0'; // the newline
		return;
	}
	text_add(out, list ? "[" : "{");
	json_array_foreach(value, i, member) {
		text_printf(out, "%s%*s", comma, indent, "");
		add_json(out, member, indent + 1);
		comma = ",\n";
	}
	json_object_foreach((json_t *)value, key, member) {
		text_printf(out, "%s%*s\"%s\": ", comma, indent, "", key);
		add_json(out, member, indent + 1);
		comma = ",\n";
	}
	text_printf(out, "\n%*s%s", indent - 1, "", list ? "]" : "}");
}

static const char *show_plan(struct world *world)
{
	JSON_OWNED *all = json_read_object(render_json(&world->plan, &world->arena), 0);
	struct text out = { .arena = &world->arena };

	add_json(&out, all, 1);
	text_add(&out, "\n");
	return text_get(&out);
}

static const char *show_json(struct world *world)
{
	return render_json(&world->plan, &world->arena);
}

// The seccomp filter is left out: it depends on the machine and on libseccomp.
static const char *show_dry_run(struct world *world)
{
	const char *script = render_dry_run(&world->plan, &world->arena);
	const char *start = strstr(script, "; } 8<&0\n");
	const char *end = start ? strstr(start, "\nCLAUDEBOX_END\n") : NULL;

	if (!end)
		return "no seccomp filter\n";
	start = strchr(start, '\n');
	return arena_printf(&world->arena, "%.*s\n(the seccomp filter)%s", (int)(start - script),
			    script, end);
}

static const char *show_files(struct world *world)
{
	struct text out = { .arena = &world->arena };

	vec_each(mount, &world->plan.mounts) {
		if (mount->kind == MOUNT_DATA && !str_equal(mount->path, INSTRUCTIONS))
			text_printf(&out, "== %s %04o\n%s", mount->path, mount->mode,
				    mount->source);
	}
	return text_get(&out);
}

static const char *show_instructions(struct world *world)
{
	return world_data(world, INSTRUCTIONS);
}

static const char *show_state(struct world *world)
{
	const struct plan_state *state = &world->plan.state;
	struct text out = { .arena = &world->arena };

	text_printf(&out, "project: %s\ninstance: %s\nhost's credentials: %s\n",
		    state->canonical_root, state->instance, state->host_credentials);
	vec_each(link, &state->links)
		text_printf(&out, "link %s -> %s\n", link->name, link->target);
	vec_each(file, &state->files) {
		if (file->alone.content)
			text_printf(&out, "== %s%s%s\n%s", file->name,
				    file->keep_as ? ", the old one becomes " : "",
				    file->keep_as ? file->keep_as : "", file->alone.content);
	}
	return text_get(&out);
}

static const char *show_nft(struct world *world)
{
	return render_nft(&world->plan, &world->arena);
}

#define SCREEN(width, coloured)                                                        \
	{                                                                              \
		.terminal = true, .colour = (coloured), .columns = (width), .rows = 24 \
	}

const struct golden_output golden_outputs[] = {
	{ "plan.json", show_plan, true }, // --dry-run=json with a line for each row
	{ "dry-run.json", show_json, false },
	{ "dry-run.txt", show_dry_run, false },
	{ "files.txt", show_files, false }, // generated files, except for the instructions
	{ "instructions.txt", show_instructions, false },
	{ "state.txt", show_state, false },
	{ "nft.txt", show_nft, false },
	{ "audit-pipe.txt", NULL, false, { 0 }, true },
	{ "short-40-columns.txt", NULL, false, SCREEN(40, false), false },
	{ "short-40-columns-colour.txt", NULL, false, SCREEN(40, true), false },
	{ "short.txt", NULL, true, SCREEN(80, false), false },
	{ "short-80-columns-colour.txt", NULL, false, SCREEN(80, true), false },
	{ "short-120-columns.txt", NULL, false, SCREEN(120, false), false },
	{ "short-120-columns-colour.txt", NULL, false, SCREEN(120, true), false },
	{ "short-200-columns.txt", NULL, false, SCREEN(200, false), false },
	{ "short-200-columns-colour.txt", NULL, false, SCREEN(200, true), false },
	{ "audit-40-columns.txt", NULL, false, SCREEN(40, false), true },
	{ "audit-40-columns-colour.txt", NULL, false, SCREEN(40, true), true },
	{ "audit.txt", NULL, true, SCREEN(80, false), true },
	{ "audit-80-columns-colour.txt", NULL, false, SCREEN(80, true), true },
	{ "audit-120-columns.txt", NULL, false, SCREEN(120, false), true },
	{ "audit-120-columns-colour.txt", NULL, false, SCREEN(120, true), true },
	{ "audit-200-columns.txt", NULL, false, SCREEN(200, false), true },
	{ "audit-200-columns-colour.txt", NULL, false, SCREEN(200, true), true },
};
const size_t golden_output_count = ARRAY_SIZE(golden_outputs);

const char *golden_render(const struct golden_output *output, struct world *world)
{
	return output->render ? output->render(world)
			      : screen_audit(world, output->reader, output->full);
}
