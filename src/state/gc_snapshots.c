// SPDX-License-Identifier: MIT
// The command --gc=snapshots: removes the snapshots of projects after a question.
//
// Theory of operation: the lock of an instance keeps boxes and --undo away. An interrupted removal
// leaves a part that git cannot read; so the directory is renamed first, and the next removal, or
// the next box, does not see it under its name.
#include "state/gc_snapshots.h"

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/state/instances.h"
#include "render/instances.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define REMOVED ".removing-" INSTANCE_SNAPSHOTS

// Removes the snapshots of an instance. Returns false with an error, or without one if a box runs.
static bool remove_snapshots(int all, const char *id, struct error *error)
{
	CLEANUP_FD int instance = openat(all, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int lock = instance < 0 ? -1 : lock_exclusively(instance, INSTANCE_LOCK);

	if (lock < 0) {
		output_message("claudebox", "keeping the snapshots of instance '%s': a box uses it",
			       id);
		return false;
	}
	if (!remove_tree(instance, REMOVED, error))
		return false;
	if (renameat(instance, INSTANCE_SNAPSHOTS, instance, REMOVED) < 0 && errno != ENOENT)
		return write_fail(error, "remove", INSTANCE_SNAPSHOTS);
	return remove_tree(instance, REMOVED, error);
}

static bool confirm(const struct config *config, size_t count, uint64_t size, struct error *error)
{
	const char *what = arena_printf(error->arena, "the snapshots of %s (%s)",
					render_count(error->arena, count, "project"),
					render_size(error->arena, size));
	bool yes = config->yes;

	if (!yes && !ask_yes_no(arena_printf(error->arena,
					     "Permanently remove %s? --diff and --undo will not "
					     "know earlier sessions.",
					     what),
				&yes, error))
		return error_hint(error, "review `claudebox --instances`, then use --yes");
	if (yes)
		return true;
	error_set(error, "nothing was removed");
	return error_hint(error, "answer y to remove them, or use --yes");
}

bool gc_snapshots(const struct config *config, int all, const instance_list *list,
		  struct arena *arena, int *ret_status, struct error *error)
{
	uint64_t size = 0, removed = 0;
	size_t count = 0, done = 0;

	vec_each(instance, list) {
		size += instance->snapshots;
		count += instance->snapshots != 0;
	}
	if (!count || config->list_only)
		return output_print(STDOUT_FILENO,
				    arena_printf(arena, "Snapshots of %s, %s.\n",
						 render_count(arena, count, "project"),
						 render_size(arena, size)),
				    error);
	if (!confirm(config, count, size, error))
		return false;
	vec_each(instance, list) {
		struct error problem = { .arena = arena };

		if (!instance->snapshots)
			continue;
		if (remove_snapshots(all, instance->id, &problem)) {
			removed += instance->snapshots;
			done++;
		} else {
			*ret_status = EXIT_CHECK_FAILED;
			if (problem.message)
				output_error(&problem);
		}
	}
	return output_print(STDOUT_FILENO,
			    arena_printf(arena, "Removed the snapshots of %s, %s.\n",
					 render_count(arena, done, "project"),
					 render_size(arena, removed)),
			    error);
}
