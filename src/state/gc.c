// SPDX-License-Identifier: MIT
// The commands --instances and --gc, except for --gc=home and --gc=snapshots. --gc removes the
// instances of projects that are gone; no other code removes instances.
//
// Theory of operation: --gc locks an instance, so that no box can start in it, checks once more
// that the project is gone, renames the instance, and then removes it. When the removal is
// interrupted, the name of the instance shows that, and the next --gc finishes it.
#include "state/gc.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "probe/instances.h"
#include "probe/state.h"
#include "probe/user.h"
#include "render/instances.h"
#include "state/gc_home.h"
#include "state/gc_snapshots.h"
#include "state/prepare.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct instances_view build_view(const struct facts *facts, int fd)
{
	return (struct instances_view){ .reader = output_reader(fd),
					.home = facts->home,
					.now = time(NULL) };
}

// Opens ~/.claudebox/instances. Returns -1 without an error when it does not exist.
static int open_instances(const struct facts *facts, struct error *error)
{
	const char *path = path_join(error->arena, facts->state.root, INSTANCES_DIRECTORY);
	CLEANUP_FD int root = -1;
	int all;

	if (facts->state.root_kind == FILE_MISSING || !plan_refuse_state(facts, error))
		return -1;
	root = state_open_root(facts->state.root, error);
	if (root < 0)
		return -1;
	all = openat(root, INSTANCES_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (all < 0 && errno != ENOENT) {
		error_set(error, "cannot open '%s': %s", quote_display(error->arena, path, 0),
			  strerror(errno));
		error_hint(error, "check its owner and mode");
	}
	return all;
}

// Returns false without an error when the instance must be kept: a box runs in it, or its project
// exists again.
static bool remove_instance(int all, const char *id, struct error *error)
{
	const char *name = arena_printf(error->arena, INSTANCE_REMOVED "%s", id);
	CLEANUP_FD int instance = openat(all, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int lock = instance < 0 ? -1 : lock_exclusively(instance, INSTANCE_LOCK);

	if (lock < 0 || !probe_project_gone(error->arena, instance, id))
		return false;
	if (renameat2(all, id, all, name, RENAME_NOREPLACE) < 0) {
		error_set(error, "cannot remove instance '%s': %s", id, strerror(errno));
		return error_hint(error,
				  "check its owner and mode, and whether it is a mount point");
	}
	return remove_tree(all, name, error);
}

// Removes the records of places whose projects have no instance.
static void remove_places(int all, struct arena *arena)
{
	CLEANUP_FD int places =
		openat(all, "../" STATE_PLACES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	strings names = { 0 };

	if (places >= 0)
		names = list_directory(arena, places, ".");
	vec_each(name, &names) {
		const char *text = file_read_at(arena, places, *name, PLACE_LIMIT);
		strings ids = { 0 };
		bool used = !text;

		if (text)
			ids = instance_place_ids(arena, text);
		vec_each(id, &ids)
			used |= faccessat(all, *id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		if (!used)
			unlinkat(places, *name, 0);
	}
}

static struct removed_instances remove_all(int all, const instance_list *list,
					   const strings *leftovers, struct arena *arena)
{
	struct removed_instances result = { 0 };

	vec_each(name, leftovers) {
		struct error error = { .arena = arena };

		if (remove_tree(all, *name, &error))
			continue;
		output_error(&error);
		result.failed = true;
	}
	vec_each(instance, list) {
		struct error error = { .arena = arena };

		if (remove_instance(all, instance->id, &error)) {
			result.count++;
			result.bytes += instance->size;
			result.quarantined += instance->quarantined;
		} else if (error.message) {
			output_error(&error);
			result.failed = true;
		} else {
			output_message(
				"claudebox",
				"keeping instance '%s': it is in use again or its project exists again",
				instance->id);
		}
	}
	return result;
}

static bool confirm(const instance_list *list, struct error *error)
{
	bool yes = false;
	const char *question =
		list->count ? arena_printf(error->arena, "Permanently remove %zu instance%s (%s)?",
					   list->count, list->count == 1 ? "" : "s",
					   render_size(error->arena, instances_size(list)))
			    : "Finish the interrupted removals?";

	if (!ask_yes_no(question, &yes, error)) {
		return error_hint(error, "review `claudebox --gc --dry-run`, then use --yes");
	}
	if (yes)
		return true;
	error_set(error, "nothing was removed");
	return error_hint(error, "answer y to remove them, or use --yes");
}

// Reduces a list to the instance that --instance names: by its id, or by the directory of its
// project, which may be gone.
static bool select_instance(const struct config *config, instance_list *list, struct error *error)
{
	char place[PATH_MAX];
	const char *wanted = config->instance;
	size_t kept = 0;

	if (!wanted)
		return true;
	if (!instance_id_valid(wanted) && !instance_kept_valid(wanted))
		wanted = realpath(wanted, place) ? place : path_clean(error->arena, wanted);
	vec_each(instance, list) {
		if (str_equal(instance->id, wanted) || str_equal(instance->root, wanted))
			list->items[kept++] = *instance;
	}
	list->count = kept;
	if (kept)
		return true;
	error_set(error, "there is no instance of '%s'",
		  quote_display(error->arena, config->instance, 120));
	return error_hint(error, "claudebox --instances lists the ids and directories");
}

static bool collect(const struct config *config, const struct facts *facts, int all,
		    struct arena *arena, int *ret_status, struct error *error)
{
	strings leftovers = { 0 };
	instance_list list = probe_instances(arena, all, &leftovers);
	instance_list removable;
	struct instances_view view;
	struct removed_instances result;
	bool idle;
	int fd;

	if (!select_instance(config, &list, error))
		return false;
	if (config->instance)
		leftovers.count = 0;
	removable = instances_removable(arena, &list);
	idle = config->list_only || (!removable.count && !leftovers.count);
	// A list before a question goes to stderr, like the question.
	fd = idle || config->yes ? STDOUT_FILENO : STDERR_FILENO;
	view = build_view(facts, fd);
	if (!output_print(fd,
			  config->output == OUTPUT_JSON
				  ? render_instances_json(arena, &removable,
							  &(struct instance_home){ 0 })
				  : render_garbage(arena, &list, leftovers.count, &view),
			  error))
		return false;
	if (idle)
		return true;
	if (!config->yes && !confirm(&removable, error))
		return false;
	result = remove_all(all, &removable, &leftovers, arena);
	remove_places(all, arena);
	*ret_status = result.failed ? EXIT_CHECK_FAILED : 0;
	return output_print(STDOUT_FILENO, render_removed(arena, &result), error);
}

bool instances_command(const struct config *config, struct arena *arena, int *ret_status,
		       struct error *error)
{
	struct facts facts = { 0 };
	struct instances_view view;
	strings leftovers = { 0 };
	CLEANUP_FD int all = -1;
	instance_list list;

	if (!probe_user(&facts, arena, environ, error))
		return false;
	probe_state_root(&facts, arena);
	all = open_instances(&facts, error);
	if (error->message)
		return false;
	if (config->action == ACTION_GC && !config->homes && !config->snapshots)
		return collect(config, &facts, all, arena, ret_status, error);
	list = probe_instances(arena, all, &leftovers);
	if (!select_instance(config, &list, error))
		return false;
	if (config->snapshots)
		return gc_snapshots(config, all, &list, arena, ret_status, error);
	view = build_view(&facts, STDOUT_FILENO);
	if (!config->instance)
		gc_view_shared(&view, all, arena);
	if (config->homes)
		return gc_homes(config, all, &list, view, arena, ret_status, error);
	return output_print(STDOUT_FILENO,
			    config->output == OUTPUT_JSON
				    ? render_instances_json(arena, &list, &view.shared)
				    : render_instances(arena, &list, &view),
			    error);
}
