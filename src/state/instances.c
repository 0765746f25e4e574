// SPDX-License-Identifier: MIT
// --instances lists the state of all projects, --gc removes that of projects that are gone. Nothing else ever does.
//
// Theory of operation: an instance is first held, so that no box can start in it, then looked at once more, then renamed,
// and then removed. What a kill leaves has a name that only a removal gives, and the next --gc finishes it.
#include "state/instances.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/state/instances.h"
#include "probe/instances.h"
#include "probe/state.h"
#include "probe/user.h"
#include "render/instances.h"
#include "state/instance.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/output.h"
#include "sys/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

static struct instances_view view_of(const struct facts *facts, int fd)
{
	return (struct instances_view){ .reader = output_reader(fd),
					.home = facts->home,
					.now = time(NULL) };
}

// ~/.claudebox/instances; -1 without an error when there is none.
static int open_all(const struct facts *facts, struct error *error)
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
		error_hint(error, "look at its owner and mode");
		error_set(error, "cannot open '%s': %s", quote_display(error->arena, path, 0),
			  strerror(errno));
	}
	return all;
}

// Nobody may start in it from here on. -1: somebody is there.
static int hold(int instance)
{
	CLEANUP_FD int lock = openat(instance, INSTANCE_LOCK,
				     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 ? take_fd(&lock) : -1;
}

// False without an error: it is not to be removed any more.
static bool remove_instance(int all, const char *id, struct error *error)
{
	const char *name = arena_printf(error->arena, INSTANCE_REMOVED "%s", id);
	CLEANUP_FD int instance = openat(all, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int held = instance < 0 ? -1 : hold(instance);

	if (held < 0 || !probe_still_gone(error->arena, instance, id))
		return false;
	if (renameat2(all, id, all, name, RENAME_NOREPLACE) < 0) {
		error_hint(error, "look at its owner and mode, and for mounts");
		return error_set(error, "cannot remove instance '%s': %s", id, strerror(errno));
	}
	return remove_tree(all, name, error);
}

struct tally {
	size_t removed;
	uint64_t bytes;
	bool failed;
};

static struct tally remove_all(int all, const instance_list *list, const strings *leftovers,
			       struct arena *arena)
{
	struct tally tally = { 0 };

	vec_each(name, leftovers) {
		struct error error = { .arena = arena };

		if (remove_tree(all, *name, &error))
			continue;
		output_error(&error);
		tally.failed = true;
	}
	vec_each(instance, list) {
		struct error error = { .arena = arena };

		if (remove_instance(all, instance->id, &error)) {
			tally.removed++;
			tally.bytes += instance->size;
		} else if (error.message) {
			output_error(&error);
			tally.failed = true;
		} else {
			output_message("claudebox",
				       "instance '%s' is kept: it has changed meanwhile",
				       instance->id);
		}
	}
	return tally;
}

static bool confirm(const instance_list *list, struct error *error)
{
	bool yes = false;
	const char *question =
		list->count ? arena_printf(error->arena, "Remove %zu instance%s (%s) for good?",
					   list->count, list->count == 1 ? "" : "s",
					   render_size(error->arena, instances_size(list)))
			    : "Finish what was begun?";

	if (!ask_yes_no(question, &yes, error)) {
		error_hint(error, "see claudebox --gc --dry-run, then use --yes");
		return false;
	}
	if (yes)
		return true;
	error_hint(error, "answer y to remove them, or use --yes");
	return error_set(error, "nothing was removed");
}

static bool collect(const struct config *config, const struct facts *facts, int all,
		    struct arena *arena, int *ret_status, struct error *error)
{
	strings leftovers = { 0 };
	instance_list list = probe_instances(arena, all, &leftovers);
	instance_list removable = instances_removable(arena, &list);
	bool idle = config->list_only || (!removable.count && !leftovers.count);
	// Before a question the list belongs where the question is.
	int fd = idle || config->yes ? STDOUT_FILENO : STDERR_FILENO;
	struct instances_view view = view_of(facts, fd);
	struct tally tally;

	if (!output_print(fd,
			  config->output == OUTPUT_JSON
				  ? render_instances_json(arena, &removable)
				  : render_garbage(arena, &list, leftovers.count, &view),
			  error))
		return false;
	if (idle)
		return true;
	if (!config->yes && !confirm(&removable, error))
		return false;
	tally = remove_all(all, &removable, &leftovers, arena);
	*ret_status = tally.failed ? EXIT_CHECK_FAILED : 0;
	return output_print(STDOUT_FILENO,
			    arena_printf(arena, "Removed %zu instance%s, %s.\n", tally.removed,
					 tally.removed == 1 ? "" : "s",
					 render_size(arena, tally.bytes)),
			    error);
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
	all = open_all(&facts, error);
	if (error->message)
		return false;
	if (config->action == ACTION_GC)
		return collect(config, &facts, all, arena, ret_status, error);
	list = probe_instances(arena, all, &leftovers);
	view = view_of(&facts, STDOUT_FILENO);
	return output_print(STDOUT_FILENO,
			    config->output == OUTPUT_JSON ? render_instances_json(arena, &list)
							  : render_instances(arena, &list, &view),
			    error);
}
