// SPDX-License-Identifier: MIT
// Makes the instance on disk what the plan says.
//
// Theory of operation: the box writes to the instance's `claude` and to `sign-in`, so anything there may be a trap.
// Directories are opened one by one without following links, and every write goes to a new file that is then
// renamed into place: nothing that was planted is ever opened for writing.
#include "run/run.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "host/probe.h"
#include "plan/instances.h"
#include "plan/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { FILE_LIMIT = 64 * 1024 * 1024 };

bool run_fail(struct error *error, const char *what, const char *path)
{
	int code = errno;

	if (code == ENOSPC || code == EDQUOT)
		error_hint(error, "the disk is full: free some space and start again");
	else if (code == EFBIG)
		error_hint(error, "raise the limit on the size of files: `ulimit -f unlimited`");
	else if (code == EROFS)
		error_hint(error, "claudebox keeps its state there: make it writable");
	else
		error_hint(error, "look at the owner and mode of that path and its directory");
	return error_set(error, "cannot %s '%s': %s", what, quote_display(error->arena, path, 0),
			 strerror(code));
}

// A box can take the rights off a directory that it writes to, and a umask those of a new one; the user is not locked out
// by that.
static int open_again(int parent, const char *name)
{
	CLEANUP_FD int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || chmod(path, 0700) < 0)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int run_open_directory(int parent, const char *name, const char *shown, struct error *error)
{
	bool made = mkdirat(parent, name, 0700) == 0;
	int fd;

	if (!made && errno != EEXIST) {
		run_fail(error, "make directory", shown);
		return -1;
	}
	fd = made ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (made || errno == EACCES))
		fd = open_again(parent, name);
	if (fd < 0)
		run_fail(error, "open directory", shown);
	return fd;
}

// The root was looked at before; what counts is what it is now.
static bool check_root(int root, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(root, &status) < 0)
		return run_fail(error, "look at", path);
	if (status.st_uid != getuid() || (status.st_mode & 077)) {
		error_hint(error, "it must be yours, with mode 700");
		return error_set(error, "state directory '%s' is not private", path);
	}
	return true;
}

int run_open_root(const char *path, struct error *error)
{
	CLEANUP_FD int root = run_open_directory(AT_FDCWD, path, path, error);

	return root >= 0 && check_root(root, path, error) ? take_fd(&root) : -1;
}

bool run_write(int fd, const void *bytes, size_t count)
{
	for (const char *at = bytes; count;) {
		ssize_t done = write(fd, at, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		at += done;
		count -= (size_t)done;
	}
	return true;
}

// What stands in the way is moved aside, not lost; a link is replaced.
bool run_clear_way(int directory, const char *name, struct error *error)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || run_fail(error, "look at", name);
	if (S_ISLNK(status.st_mode))
		return unlinkat(directory, name, 0) == 0 || errno == ENOENT ||
		       run_fail(error, "replace", name);
	for (int i = 0; i < 100; i++) {
		const char *aside = arena_printf(error->arena, "%s.own%.0d", name, i);

		if (renameat2(directory, name, directory, aside, RENAME_NOREPLACE) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	return run_fail(error, "move aside", name);
}

static bool is_directory(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

bool run_replace_file(int directory, const char *name, const char *content, struct error *error)
{
	const char *temporary = arena_printf(error->arena, ".claudebox-%d-%s", getpid(), name);
	CLEANUP_FD int fd = -1;

	if (is_directory(directory, name) && !run_clear_way(directory, name, error))
		return false;
	if (is_directory(directory, temporary) && !run_clear_way(directory, temporary, error))
		return false;
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return run_fail(error, "write", name);
	// Whatever the umask takes, we must be able to read it again.
	if (fchmod(fd, 0600) < 0 || !run_write(fd, content, strlen(content)) || fsync(fd) < 0 ||
	    renameat(directory, temporary, directory, name) < 0) {
		run_fail(error, "write", name);
		unlinkat(directory, temporary, 0);
		return false;
	}
	return true;
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
	if (!run_clear_way(directory, link->name, error))
		return false;
	if (symlinkat(link->target, directory, link->name) < 0 && errno != EEXIST)
		return run_fail(error, "make link", link->name);
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
		  run_replace_file(instance, INSTANCE_RECORD, plan->state.new_record, error);

	if (ok && plan->state.new_settings_base)
		ok = run_replace_file(instance, "settings-base.json", plan->state.new_settings_base,
				      error);
	if (ok && plan->state.new_wish)
		ok = run_replace_file(instance, plan->state.wish_name, plan->state.new_wish, error);
	if (ok && plan->state.new_approval)
		ok = run_replace_file(instance, plan->state.approval_name, plan->state.new_approval,
				      error);
	return ok;
}

// Between the audit and the answer another box of this project may have started: its Claude's files are newer than ours.
static bool still_applies(int claude, const struct plan_file *file, struct arena *arena)
{
	return str_equal(probe_read_at(arena, claude, file->name, FILE_LIMIT), file->based_on);
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
			return run_fail(error, "keep", file->name);
		if (!run_replace_file(claude, file->name, file->content, error))
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
			run_fail(error, "write", INSTANCE_LOCK);
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
	CLEANUP_FD int instances = run_open_directory(root, path_name(all), all, error);

	if (instances < 0)
		return -1;
	for (int i = 0; i < 10; i++) {
		CLEANUP_FD int instance = run_open_directory(instances, path_name(state->instance),
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
	run_fail(error, "hold", state->instance);
	return -1;
}

int run_prepare_state(const struct plan *plan, struct error *error)
{
	const struct plan_state *state = &plan->state;
	CLEANUP_FD int root = run_open_root(state->root, error);
	CLEANUP_FD int instance = -1;
	CLEANUP_FD int claude = -1;
	CLEANUP_FD int sign_in = -1;
	CLEANUP_FD int lock = -1;

	if (root < 0 || (state->upgrade.needed && !run_upgrade(plan, root, error)))
		return -1;
	instance = open_instance(root, state, &lock, error);
	if (instance < 0)
		return -1;
	claude = run_open_directory(instance, path_name(state->claude), state->claude, error);
	if (claude < 0)
		return -1;
	sign_in = run_open_directory(root, path_name(state->sign_in), state->sign_in, error);
	if (sign_in < 0)
		return -1;
	if (state->new_version &&
	    !run_replace_file(root, STATE_VERSION_FILE, state->new_version, error))
		return -1;
	return write_records(instance, plan, error) && fill_claude(claude, plan, error)
		       ? take_fd(&lock)
		       : -1;
}
