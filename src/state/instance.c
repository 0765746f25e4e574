// SPDX-License-Identifier: MIT
// Makes the instance on disk what the plan says.
//
// Theory of operation: the box writes to the instance's `claude` and to `sign-in`, so anything there may be a trap.
// Directories are opened one by one without following links, and every write goes to a new file that is then
// renamed into place: nothing that was planted is ever opened for writing.
#include "state/instance.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/upgrade.h"
#include "state/upgrade.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { FILE_LIMIT = 64 * 1024 * 1024 };

// The root was looked at before; what counts is what it is now.
static bool check_root(int root, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(root, &status) < 0)
		return write_fail(error, "look at", path);
	if (status.st_uid != getuid() || (status.st_mode & 077)) {
		error_hint(error, "it must be yours, with mode 700");
		return error_set(error, "state directory '%s' is not private", path);
	}
	return true;
}

int state_open_root(const char *path, struct error *error)
{
	CLEANUP_FD int root = open_directory(AT_FDCWD, path, path, error);

	return root >= 0 && check_root(root, path, error) ? take_fd(&root) : -1;
}

static bool make_link(int directory, const struct plan_link *link, struct error *error)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(directory, link->name, target, sizeof(target) - 1);

	if (length >= 0) {
		target[length] = '\0';
		if (str_equal(target, link->target))
			return true;
	}
	// Another launch of the same project may do this at the same moment.
	if (!move_aside(directory, link->name, error))
		return false;
	if (symlinkat(link->target, directory, link->name) < 0 && errno != EEXIST)
		return write_fail(error, "make link", link->name);
	return true;
}

// Links of earlier launches to files that the host no longer has would only be in the way.
static void drop_stale_links(int directory, const struct plan *plan)
{
	CLEANUP_FD int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_DIR DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!entries)
		return;
	take_fd(&copy);
	while ((entry = readdir(entries))) {
		char target[PATH_MAX];
		ssize_t length;
		bool wanted = false;

		if (entry->d_type != DT_LNK)
			continue;
		length = readlinkat(directory, entry->d_name, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		vec_each(link, &plan->state.links)
			wanted |= str_equal(link->name, entry->d_name);
		if (!wanted && str_starts(target, BOX_USER_CLAUDE "/"))
			unlinkat(directory, entry->d_name, 0);
	}
}

// What the box cannot reach: which project this is, and the host's settings as they last came along.
static bool write_records(int instance, const struct plan *plan, struct error *error)
{
	bool ok = !plan->state.new_record ||
		  replace_file(instance, INSTANCE_RECORD, plan->state.new_record, error);

	if (ok && plan->state.new_settings_base)
		ok = replace_file(instance, "settings-base.json", plan->state.new_settings_base,
				  error);
	if (ok && plan->state.new_requested)
		ok = replace_file(instance, plan->state.requested_name, plan->state.new_requested,
				  error);
	if (ok && plan->state.new_approval)
		ok = replace_file(instance, plan->state.approval_name, plan->state.new_approval,
				  error);
	return ok;
}

// Between the audit and the answer another box of this project may have started: its Claude's files are newer than ours.
static bool still_applies(int claude, const struct plan_file *file, struct arena *arena)
{
	return str_equal(file_read_at(arena, claude, file->name, FILE_LIMIT), file->based_on);
}

static bool fill_claude(int claude, const struct plan *plan, struct error *error)
{
	drop_stale_links(claude, plan);
	vec_each(link, &plan->state.links) {
		if (!make_link(claude, link, error))
			return false;
	}
	vec_each(file, &plan->state.files) {
		if (!still_applies(claude, file, error->arena))
			continue;
		if (file->keep_as && renameat(claude, file->name, claude, file->keep_as) < 0)
			return write_fail(error, "keep", file->name);
		if (!replace_file(claude, file->name, file->content, error))
			return false;
	}
	return true;
}

// Holds the instance as long as the descriptor is open; -1 with an error. -2: it was removed meanwhile.
static int hold(int instance, struct error *error)
{
	CLEANUP_FD int lock =
		openat(instance, INSTANCE_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (lock < 0) {
		lock = openat(instance, INSTANCE_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			      0600);
		// Whatever the umask takes, the next one must be able to open it.
		if (lock < 0 || fchmod(lock, 0600) < 0) {
			if (errno == ENOENT)
				return -2;
			write_fail(error, "write", INSTANCE_LOCK);
			return -1;
		}
	}
	// Where there are no locks, --gc gets none either and leaves everything as it is. A removal is waited for.
	while (flock(lock, LOCK_SH) < 0 && errno == EINTR)
		;
	if (fstat(lock, &status) == 0 && status.st_nlink == 0)
		return -2;
	futimens(lock, NULL);
	return take_fd(&lock);
}

// Between opening and holding, --gc may have removed it: then a new one is made.
static int open_instance(int root, const struct plan_state *state, int *ret_lock,
			 struct error *error)
{
	const char *all = path_parent(error->arena, state->instance);
	CLEANUP_FD int instances = open_directory(root, path_name(all), all, error);

	if (instances < 0)
		return -1;
	for (int i = 0; i < 10; i++) {
		CLEANUP_FD int instance = open_directory(instances, path_name(state->instance),
							 state->instance, error);
		int lock = instance < 0 ? -1 : hold(instance, error);

		if (lock == -1)
			return -1;
		if (lock >= 0) {
			*ret_lock = lock;
			return take_fd(&instance);
		}
	}
	errno = EBUSY;
	write_fail(error, "hold", state->instance);
	return -1;
}

int instance_prepare(const struct plan *plan, struct error *error)
{
	const struct plan_state *state = &plan->state;
	CLEANUP_FD int root = state_open_root(state->root, error);
	CLEANUP_FD int instance = -1;
	CLEANUP_FD int claude = -1;
	CLEANUP_FD int credentials = -1;
	CLEANUP_FD int lock = -1;

	if (root < 0 || (state->upgrade.needed && !state_upgrade(plan, root, error)))
		return -1;
	instance = open_instance(root, state, &lock, error);
	if (instance < 0)
		return -1;
	claude = open_directory(instance, path_name(state->claude), state->claude, error);
	if (claude < 0)
		return -1;
	credentials =
		open_directory(root, path_name(state->credentials), state->credentials, error);
	if (credentials < 0)
		return -1;
	if (state->new_version &&
	    !replace_file(root, STATE_VERSION_FILE, state->new_version, error))
		return -1;
	return write_records(instance, plan, error) && fill_claude(claude, plan, error)
		       ? take_fd(&lock)
		       : -1;
}
