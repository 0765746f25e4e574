// SPDX-License-Identifier: MIT
// PATH of the box.
#include "plan/toolchains/path.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/command.h"
#include "plan/facts.h"
#include "plan/git/wrapper.h"
#include "plan/home/installs.h"
#include "plan/nix/without_daemon.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "plan/toolchains/place.h"
#include "plan/toolchains/toolchains.h"

#include <string.h>

enum { SHOWN_PROGRAMS = 4 };

struct path_list {
	struct plan *plan;
	struct arena *arena;
	const struct facts *facts;
	strings directories;
	strings reals;     // of the same directories, to find duplicates
	bool has_installs; // the box's ~/.local/bin is there
};

static const char *shown(const struct path_list *list, const char *path)
{
	return advice_path(list->plan, list->arena, path);
}

static void add_directory(struct path_list *list, const char *directory, const char *real)
{
	vec_each(known, &list->reals) {
		if (str_equal(*known, real))
			return;
	}
	vec_push(list->arena, &list->directories, directory);
	vec_push(list->arena, &list->reals, real);
}

static const char *find_in_box(const struct path_list *list, const struct followed *directory)
{
	return toolchain_place(list->plan, list->arena, list->facts, directory);
}

// Returns the programs of a directory: "12 programs: a, b, c, d ...".
static const char *show_programs(struct arena *arena, size_t count, const strings *names)
{
	struct text out = { .arena = arena };

	text_printf(&out, "%zu program%s", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < names->count; i++)
		text_printf(&out, "%s %s%s", i ? "," : ":",
			    quote_listed(arena, names->items[i], 40),
			    str_equal(names->items[i], "claudebox") ? " (this program)" : "");
	if (count > names->count)
		text_add(&out, " ...");
	return text_get(&out);
}

static bool is_secret(const struct facts *facts, const char *path)
{
	vec_each(secret, &facts->secrets) {
		if (path_within(path, secret->path) || path_within(path, secret->real))
			return true;
	}
	return false;
}

// Returns the option that brings a directory of PATH. Programs that need the files beside their
// directory come with the directory above, which is then on PATH too. Links are resolved: a mount
// has no place behind one.
static const char *bring_option(const struct path_list *list, const struct path_entry *entry)
{
	return advice_install(list->plan, list->arena, list->facts, &entry->install,
			      entry->directory.real);
}

// Returns whether claude, which the box has in another place, is the only program of a directory.
static bool has_claude_alone(const struct path_list *list, const struct path_entry *entry)
{
	const char *claude = list->facts->agent.found;

	return entry->programs == 1 && claude &&
	       str_equal(claude,
			 path_join(list->arena, entry->directory.path, entry->names.items[0]));
}

static void leave_out(struct path_list *list, const struct path_entry *entry)
{
	const char *what = shown(list, entry->written);
	bool directory = entry->directory.kind == FILE_DIRECTORY;

	if (!entry->problem && entry->directory.kind == FILE_MISSING)
		return; // the host does not have it either
	if (has_claude_alone(list, entry))
		return;
	if (entry->problem)
		plan_leave_out(list->plan, list->arena,
			       arena_printf(list->arena, "PATH entry %s", what), entry->problem,
			       NULL);
	else if (!directory)
		plan_leave_out(list->plan, list->arena, what, "is not a directory", NULL);
	else if (is_secret(list->facts, entry->directory.real))
		plan_leave_out(list->plan, list->arena, what, "it is in a secret place", NULL);
	else
		plan_leave_out(list->plan, list->arena, what,
			       show_programs(list->arena, entry->programs, &entry->names),
			       bring_option(list, entry));
}

// Adds the box's own ~/.local/bin, once. It comes before the directories of the system.
static void add_installs(struct path_list *list)
{
	const char *own = plan_install_directory(list->plan, list->arena);

	if (!list->has_installs)
		add_directory(list, own, own);
	list->has_installs = true;
}

// Adds the places of ~/.local/bin: the programs that belong to a toolchain, and the box's own
// directory.
static void add_local_bin(struct path_list *list, const struct path_entry *entry)
{
	const struct toolchains_facts *toolchains = &list->facts->toolchains;
	strings others = { 0 };
	size_t count = 0;
	bool programs = false;

	vec_each(mount, &list->plan->mounts)
		programs |= path_within(mount->path, BOX_PROGRAMS);
	if (programs)
		add_directory(list, BOX_PROGRAMS, BOX_PROGRAMS);
	add_installs(list);
	vec_each(program, &toolchains->local_programs) {
		if (program->belongs || str_equal(program->file.path, list->facts->agent.found) ||
		    str_equal(program->name, "claude") ||
		    advice_requested(list->facts, program->file.path))
			continue;
		if (count++ < SHOWN_PROGRAMS)
			vec_push(list->arena, &others, program->name);
	}
	if (count)
		plan_leave_out(list->plan, list->arena, shown(list, entry->written),
			       show_programs(list->arena, count, &others),
			       arena_printf(list->arena, "--mount-ro %s",
					    shown(list, path_join(list->arena, entry->written,
								  count == 1 ? others.items[0]
									     : "NAME"))));
}

// Reports a watched program that is another one in the box than outside.
static void report_watched(struct path_list *list)
{
	const struct toolchains_facts *toolchains = &list->facts->toolchains;

	for (size_t i = 0; i < watched_program_count; i++) {
		const struct path_entry *outside = NULL;
		const struct path_entry *inside = NULL;

		vec_each(entry, &toolchains->path) {
			if (!(entry->watched >> i & 1) ||
			    path_within(entry->directory.path, list->plan->project))
				continue;
			outside = outside ? outside : entry;
			if (!inside && find_in_box(list, &entry->directory))
				inside = entry;
		}
		if (outside && inside && outside != inside &&
		    !advice_requested(list->facts, outside->directory.path))
			plan_leave_out(
				list->plan, list->arena,
				shown(list, path_join(list->arena, outside->written,
						      watched_programs[i])),
				arena_printf(list->arena,
					     "%s in the box is %s, perhaps another version",
					     watched_programs[i],
					     shown(list, path_join(list->arena, inside->written,
								   watched_programs[i]))),
				bring_option(list, outside));
	}
}

// Adds the directories of packages.
static void add_packages(struct path_list *list)
{
	vec_each(package, &list->plan->packages) {
		if (package->bin)
			add_directory(list, package->bin, package->bin);
	}
}

static bool is_of_system(const char *path)
{
	for (size_t i = 0; i < system_path_count; i++)
		if (str_equal(path, system_path[i]))
			return true;
	return false;
}

static void add_host_path(struct path_list *list)
{
	const struct toolchains_facts *toolchains = &list->facts->toolchains;

	vec_each(entry, &toolchains->path) {
		const char *place = entry->problem || entry->directory.kind != FILE_DIRECTORY
					    ? NULL
					    : find_in_box(list, &entry->directory);

		// The store's directories follow, in a box of the store only.
		if (list->facts->store.only && path_within(entry->directory.real, NIX_STORE))
			continue;
		// The same for all content of a project: a repository does not choose PATH, and the
		// box may create the directory.
		if (!entry->problem && path_within(entry->directory.path, list->plan->project)) {
			add_directory(list, entry->directory.path, entry->directory.path);
			continue;
		}
		if (place && is_of_system(place) && !toolchains->local_bin &&
		    !list->facts->store.only)
			add_installs(list);
		if (advice_requested(list->facts, entry->directory.path))
			add_directory(list, entry->directory.path, entry->directory.real);
		else if (toolchains->local_bin && !entry->problem &&
			 str_equal(entry->directory.real, toolchains->local_bin))
			add_local_bin(list, entry);
		else if (place)
			add_directory(list, place, entry->directory.real);
		else
			leave_out(list, entry);
	}
	if (toolchains->path_ignored)
		plan_leave_out(list->plan, list->arena,
			       arena_printf(list->arena, "%zu more PATH entries",
					    toolchains->path_ignored),
			       "PATH is too long", "--path DIR");
}

static void add_system(struct path_list *list)
{
	for (size_t i = 0; i < system_path_count; i++) {
		const struct followed *directory = facts_file(list->facts, system_path[i]);

		// not a link such as /bin -> usr/bin, which is in PATH already
		if (directory && directory->kind == FILE_DIRECTORY && !directory->hops.count &&
		    plan_provides(list->plan, system_path[i]))
			add_directory(list, system_path[i], system_path[i]);
	}
}

const char *plan_build_path(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct path_list list = { .plan = plan, .arena = arena, .facts = facts };
	struct text path = { .arena = arena };
	const char *claude;

	if (plan_provides(plan, BOX_NIX "/nix"))
		add_directory(&list, BOX_NIX, BOX_NIX);
	if (plan_has_git_wrapper(plan, facts))
		add_directory(&list, GIT_WRAPPER_DIRECTORY, GIT_WRAPPER_DIRECTORY);
	add_packages(&list);
	vec_each(mount, &facts->mounts) {
		if (mount->on_path)
			add_directory(&list, mount->destination.path, mount->source.real);
	}
	claude = plan_command_directory(arena, facts);
	if (claude)
		add_directory(&list, claude, claude);
	add_host_path(&list);
	// In a box of the store, ~/.local/bin is there only if it is on the host's PATH.
	if (!facts->store.only) {
		add_installs(&list);
		add_system(&list);
	}
	vec_each(directory, &facts->store.path) {
		if (plan_provides(plan, *directory))
			add_directory(&list, *directory, *directory);
	}
	report_watched(&list);
	vec_each(directory, &list.directories)
		text_printf(&path, "%s%s", path.length ? ":" : "", *directory);
	return text_get(&path);
}
