// SPDX-License-Identifier: MIT
// The lists of --instances and --gc as text and as JSON.
#include "render/instances.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "plan/state/instances.h"

enum { INDENT = 4, MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

const char *render_size(struct arena *arena, uint64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	uint64_t tenths = bytes / 100;
	size_t unit = 0;

	if (bytes < 1000)
		return arena_printf(arena, "%u bytes", (unsigned int)bytes);
	for (; tenths >= 10000 && unit + 1 < ARRAY_SIZE(units); unit++)
		tenths /= 1000;
	return arena_printf(arena, "%llu.%u %s", (unsigned long long)(tenths / 10),
			    (unsigned int)(tenths % 10), units[unit]);
}

const char *render_count(struct arena *arena, size_t count, const char *what)
{
	return arena_printf(arena, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

// Renders the time since the last use, in its largest whole unit.
static const char *render_age(struct arena *arena, int64_t then, int64_t now)
{
	static const struct {
		int64_t seconds;
		const char *unit;
	} units[] = { { (int64_t)365 * DAY, "year" },
		      { (int64_t)30 * DAY, "month" },
		      { DAY, "day" },
		      { HOUR, "hour" },
		      { MINUTE, "minute" } };
	int64_t age = now - then;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		long long count = (long long)(age / units[i].seconds);

		if (count > 0)
			return arena_printf(arena, "used %lld %s%s ago", count, units[i].unit,
					    count == 1 ? "" : "s");
	}
	return "used just now";
}

// Returns the end of the line of an instance: whether it is in use, and the status of its project.
static const char *render_status(struct arena *arena, const struct instance *instance)
{
	const char *project = "";

	if (instance->project == PROJECT_GONE)
		project = ", its project is gone";
	else if (instance->project == PROJECT_REPLACED)
		project = ", of an earlier directory at this path";
	else if (instance->why)
		project = arena_printf(arena, ", %s", instance->why);
	return arena_printf(arena, "%s%s", instance->in_use ? ", in use now" : "", project);
}

// Returns the parts of an instance that are its home and its snapshots, "": it has none.
static const char *render_parts(struct arena *arena, const struct instance *instance)
{
	const struct instance_home *home = &instance->home;
	struct text out = { .arena = arena };

	if (home->count)
		text_printf(&out, "home: %s%s", home->incomplete ? "at least " : "",
			    render_size(arena, home->size));
	if (instance->snapshots)
		text_printf(&out, "%ssnapshots: %s", out.length ? ", " : "",
			    render_size(arena, instance->snapshots));
	return out.length ? arena_printf(arena, " (%s)", text_get(&out)) : "";
}

// Returns the number of items in quarantine, "": there are none.
static const char *render_quarantined(struct arena *arena, size_t count)
{
	return count ? arena_printf(arena, ", %s in quarantine", render_count(arena, count, "item"))
		     : "";
}

static void add_instance(struct screen *screen, const struct instance *instance, int64_t now)
{
	struct arena *arena = screen->arena;
	const char *root = instance->root ? path_tilde(arena, instance->root, screen->home) : "?";

	screen_add_broken(screen, STYLE_HEAD, quote_word(arena, root, 0), INDENT, 0);
	screen_end_line(screen, INDENT);
	screen_add_wrapped(screen, STYLE_PLAIN,
			   arena_printf(arena, "%s, %s%s%s%s, %s%s", instance->id,
					instance->size_known ? "" : "at least ",
					render_size(arena, instance->size),
					render_parts(arena, instance),
					render_quarantined(arena, instance->quarantined),
					render_age(arena, instance->last_use, now),
					render_status(arena, instance)),
			   INDENT);
}

static struct screen open_screen(struct arena *arena, const struct instances_view *view)
{
	struct screen screen = screen_for(arena, view->reader);

	screen.home = view->home;
	return screen;
}

const char *render_instances(struct arena *arena, const instance_list *list,
			     const struct instances_view *view)
{
	struct screen screen = open_screen(arena, view);

	bool any_kept = false;

	vec_each(instance, list) {
		add_instance(&screen, instance, view->now);
		any_kept |= instance_kept_valid(instance->id);
	}
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   arena_printf(arena, "%s, %s",
					render_count(arena, list->count, "instance"),
					render_size(arena, instances_size(list))),
			   0);
	if (view->shared.count)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   arena_printf(arena, "The home that boxes share: %s%s",
						view->shared.incomplete ? "at least " : "",
						render_size(arena, view->shared.size)),
				   0);
	if (any_kept)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   "To use ID" INSTANCE_KEPT "N again: in ~/.claudebox/instances, "
				   "rename ID if it exists, and ID" INSTANCE_KEPT "N to ID; then "
				   "start claudebox in the project and answer k.",
				   0);
	return text_get(&screen.out);
}

const char *render_garbage(struct arena *arena, const instance_list *list, size_t leftovers,
			   const struct instances_view *view)
{
	struct screen screen = open_screen(arena, view);
	instance_list removable = instances_removable(arena, list);
	bool has_heading = false;

	if (removable.count)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   "To remove (the project is gone or was replaced):", 0);
	vec_each(instance, &removable)
		add_instance(&screen, instance, view->now);
	vec_each(instance, list) {
		if (instance->project == PROJECT_EXISTS || instance_removable(instance))
			continue;
		if (!has_heading)
			screen_add_wrapped(&screen, STYLE_PLAIN,
					   "Kept (the project is missing or unknown):", 0);
		has_heading = true;
		add_instance(&screen, instance, view->now);
	}
	if (leftovers)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   arena_printf(arena, "To finish: %s.",
						render_count(arena, leftovers, "removal")),
				   0);
	if (!removable.count && !leftovers)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   arena_printf(arena, "Nothing to remove; %s.",
						render_count(arena, list->count, "instance")),
				   0);
	return text_get(&screen.out);
}

const char *render_homes(struct arena *arena, const instance_list *list,
			 const struct instances_view *view)
{
	struct screen screen = open_screen(arena, view);
	bool any = view->shared.count;

	vec_each(instance, list)
		any |= instance->home.count != 0;
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   any ? "Kept home directories (those of running boxes stay):"
			       : "No home directory is kept.",
			   0);
	vec_each(instance, list) {
		if (instance->home.count)
			add_instance(&screen, instance, view->now);
	}
	if (view->shared.count)
		screen_add_wrapped(&screen, STYLE_PLAIN,
				   arena_printf(arena, "The home that boxes share: %s%s",
						render_size(arena, view->shared.size),
						view->shared_in_use ? ", in use now" : ""),
				   0);
	return text_get(&screen.out);
}

const char *render_removed(struct arena *arena, const struct removed_instances *removed)
{
	return arena_printf(arena, "Removed %s, %s%s.\n",
			    render_count(arena, removed->count, "instance"),
			    render_size(arena, removed->bytes),
			    render_quarantined(arena, removed->quarantined));
}

json_t *render_path_value(struct arena *arena, const char *path)
{
	json_t *value = path ? json_string(path) : json_null();

	return value ? value : json_string(quote_display(arena, path, 0));
}

// Returns the size of kept homes, null: there are none.
static json_t *home_value(const struct instance_home *home)
{
	return home->count ? json_pack("{s:I, s:b}", "size", (json_int_t)home->size,
				       "size_complete", (int)!home->incomplete)
			   : json_null();
}

const char *render_instances_json(struct arena *arena, const instance_list *list,
				  const struct instance_home *shared)
{
	json_t *rows = json_array();
	JSON_OWNED *all = NULL;

	vec_each(instance, list)
		json_array_append_new(
			rows,
			json_pack("{s:s, s:o, s:I, s:b, s:o, s:I, s:I, s:b, s:s, s:s?, s:b, s:I}",
				  "id", instance->id, "root",
				  render_path_value(arena, instance->root), "size",
				  (json_int_t)instance->size, "size_complete", instance->size_known,
				  "home", home_value(&instance->home), "snapshots",
				  (json_int_t)instance->snapshots, "last_use",
				  (json_int_t)instance->last_use, "in_use", instance->in_use,
				  "project", project_status_names[instance->project], "why",
				  instance->why, "removable", instance_removable(instance),
				  "quarantined", (json_int_t)instance->quarantined));
	all = json_pack("{s:i, s:o, s:o}", "version", 1, "instances", rows, "shared_home",
			home_value(shared));
	return json_write(arena, all, JSON_INDENT(2) | JSON_ENSURE_ASCII);
}
