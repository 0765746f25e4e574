// SPDX-License-Identifier: MIT
// The command --gc=home: removes kept homes after a question.
//
// Theory of operation: a box holds the lock of its instance, and that of the shared home if it uses
// it. --gc=home takes the same lock, renames the home, and then removes it. A start at that moment
// waits and gets an empty home. After an interruption the rest has the name of an earlier home
// (STATE_HOME_KEPT), which the next --gc=home lists and removes.
#include "state/gc_home.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "probe/instances.h"
#include "render/instances.h"
#include "state/home.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/list.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

struct cleared {
	size_t count;
	uint64_t bytes;
	bool failed;
};

static bool is_home(const char *name)
{
	return str_equal(name, STATE_HOME) || str_starts(name, STATE_HOME_KEPT);
}

void gc_view_shared(struct instances_view *view, int all, struct arena *arena)
{
	CLEANUP_FD int root =
		all < 0 ? -1 : openat(all, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int lock = -1;
	strings names = { 0 };

	if (root >= 0)
		names = list_directory(arena, root, ".");
	vec_each(name, &names) {
		if (is_home(*name))
			probe_add_home(&view->shared, root, *name);
	}
	if (!view->shared.count)
		return;
	lock = openat(root, STATE_HOME ".lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	view->shared_in_use = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 &&
			      errno == EWOULDBLOCK;
}

// Removes the homes in a directory, whose lock is held.
static bool remove_homes(int directory, struct error *error)
{
	const char *kept;
	strings names;

	if (!home_set_aside(directory, &kept, error))
		return false;
	unlinkat(directory, STATE_HOME ".links", 0);
	unlinkat(directory, STATE_HOME ".size", 0);
	names = list_directory(error->arena, directory, ".");
	vec_each(name, &names) {
		if (str_starts(*name, STATE_HOME_KEPT) && !remove_tree(directory, *name, error))
			return false;
	}
	return true;
}

// Clears the homes in one directory.
static void clear(struct cleared *cleared, int directory, const char *lock_name, const char *what,
		  const struct instance_home *home, struct arena *arena)
{
	CLEANUP_FD int lock = directory < 0 ? -1 : lock_exclusively(directory, lock_name);
	struct error error = { .arena = arena };

	if (lock < 0) {
		output_message("claudebox", "keeping the home of %s: a box uses it", what);
		return;
	}
	if (remove_homes(directory, &error)) {
		cleared->count++;
		cleared->bytes += home->size;
		return;
	}
	output_error(&error);
	cleared->failed = true;
}

static struct cleared clear_all(int all, const instance_list *list,
				const struct instances_view *view, struct arena *arena)
{
	struct cleared cleared = { 0 };

	vec_each(instance, list) {
		CLEANUP_FD int directory = -1;

		if (!instance->home.count)
			continue;
		directory =
			openat(all, instance->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		clear(&cleared, directory, INSTANCE_LOCK,
		      arena_printf(arena, "instance '%s'", instance->id), &instance->home, arena);
	}
	if (view->shared.count) {
		CLEANUP_FD int root =
			openat(all, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		clear(&cleared, root, STATE_HOME ".lock", "all boxes", &view->shared, arena);
	}
	return cleared;
}

// Adds the homes that no box uses.
static void add_free(const instance_list *list, const struct instances_view *view,
		     size_t *ret_count, uint64_t *ret_size)
{
	bool shared = view->shared.count && !view->shared_in_use;

	*ret_count = shared;
	*ret_size = shared ? view->shared.size : 0;
	vec_each(instance, list) {
		if (!instance->home.count || instance->in_use)
			continue;
		*ret_count += 1;
		*ret_size += instance->home.size;
	}
}

static bool confirm(size_t count, uint64_t size, struct error *error)
{
	bool yes = false;

	if (!ask_yes_no(arena_printf(error->arena, "Permanently remove %zu home director%s (%s)?",
				     count, count == 1 ? "y" : "ies",
				     render_size(error->arena, size)),
			&yes, error))
		return error_hint(error, "review `claudebox --gc=home --dry-run`, then use --yes");
	if (yes)
		return true;
	error_set(error, "nothing was removed");
	return error_hint(error, "answer y to remove them, or use --yes");
}

// Returns the instances that have a home.
static instance_list with_home(struct arena *arena, const instance_list *list)
{
	instance_list homes = { 0 };

	vec_each(instance, list) {
		if (instance->home.count)
			vec_push(arena, &homes, *instance);
	}
	return homes;
}

bool gc_homes(const struct config *config, int all, const instance_list *list,
	      struct instances_view view, struct arena *arena, int *ret_status, struct error *error)
{
	instance_list homes = with_home(arena, list);
	struct cleared cleared;
	uint64_t size;
	size_t count;
	bool idle;
	int fd;

	add_free(list, &view, &count, &size);
	idle = config->list_only || !count;
	// A list before a question goes to stderr, like the question.
	fd = idle || config->yes ? STDOUT_FILENO : STDERR_FILENO;
	view.reader = output_reader(fd);
	if (!output_print(fd,
			  config->output == OUTPUT_JSON
				  ? render_instances_json(arena, &homes, &view.shared)
				  : render_homes(arena, &homes, &view),
			  error))
		return false;
	// With homes and none of them free, boxes use them.
	if (idle)
		return config->list_only || !(homes.count || view.shared.count) ||
		       output_print(fd, "Nothing was removed: boxes use these homes.\n", error);
	if (!config->yes && !confirm(count, size, error))
		return false;
	cleared = clear_all(all, &homes, &view, arena);
	*ret_status = cleared.failed ? EXIT_CHECK_FAILED : 0;
	return output_print(STDOUT_FILENO,
			    arena_printf(arena, "Removed %zu home director%s, %s.\n", cleared.count,
					 cleared.count == 1 ? "y" : "ies",
					 render_size(arena, cleared.bytes)),
			    error);
}
