// SPDX-License-Identifier: MIT
// Prepares ~/.claudebox and the instance on disk.
//
// Theory of operation: boxes write to `claude` in the instance and to `sign-in`, so any file there
// may be a link or a special file. Directories are opened one by one without following links. Every
// write goes to a new file, which is then renamed into place. So no file that a box created is
// opened for writing.
#include "state/prepare.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "state/upgrade.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/list.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { ATTEMPTS = 10, ENTRIES_MAX = 4096, REMOVED = -2, GUARDED_LIMIT = 4 * 1024 * 1024 };

// Repeats the check of the probe on the open directory.
static bool check_root(int root, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(root, &status) < 0)
		return write_fail(error, "stat", path);
	if (status.st_uid != getuid() || (status.st_mode & 077)) {
		error_set(error, "state directory '%s' is not private", path);
		return error_hint(error, "it must belong to you and have mode 700");
	}
	return true;
}

int state_open_root(const char *path, struct error *error)
{
	CLEANUP_FD int root = open_directory(AT_FDCWD, path, path, error);

	return root >= 0 && check_root(root, path, error) ? take_fd(&root) : -1;
}

// Reads the target of a link. Returns false when the entry is missing or not a link.
static bool read_link(int directory, const char *name, char target[PATH_MAX])
{
	ssize_t length = readlinkat(directory, name, target, PATH_MAX - 1);

	if (length >= 0)
		target[length] = '\0';
	return length >= 0;
}

// Returns whether an entry of the Claude directory is a link to a file of the user.
static bool is_user_link(int directory, const char *name)
{
	char target[PATH_MAX];

	return read_link(directory, name, target) && str_starts(target, BOX_USER_CLAUDE "/");
}

// `beside`: another box uses what is there, unless it is one of claudebox's own two.
static bool create_link(int directory, const struct plan_link *link, bool beside,
			struct error *error)
{
	char target[PATH_MAX];
	struct stat status;

	if (beside && str_starts(link->target, BOX_USER_CLAUDE "/") &&
	    fstatat(directory, link->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	if (read_link(directory, link->name, target) && str_equal(target, link->target))
		return true;
	if (!move_aside(directory, link->name, error))
		return false;
	// EEXIST: another launch in the same project has just created it.
	if (symlinkat(link->target, directory, link->name) < 0 && errno != EEXIST)
		return write_fail(error, "create link", link->name);
	return true;
}

// Removes links of earlier launches whose files the host no longer has.
static void remove_stale_links(int directory, const struct plan *plan, struct arena *arena)
{
	// A box can create any number of entries.
	strings names = list_directory_up_to(arena, directory, ".", ENTRIES_MAX);

	vec_each(name, &names) {
		bool planned = false;

		vec_each(link, &plan->state.links)
			planned |= str_equal(link->name, *name);
		if (!planned && is_user_link(directory, *name))
			unlinkat(directory, *name, 0);
	}
}

// Writes the record of protected places. Its time of change is that of this start.
static bool write_guarded(int instance, const struct plan_state *state, struct error *error)
{
	const char *text = file_read_at(error->arena, instance, state->guarded_name, GUARDED_LIMIT);

	if (str_equal(text, state->new_guarded) &&
	    utimensat(instance, state->guarded_name, NULL, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	return replace_file(instance, state->guarded_name, state->new_guarded, error);
}

// Writes the files that the box cannot reach.
static bool write_records(int instance, const struct plan *plan, struct error *error)
{
	bool ok = !plan->state.new_record ||
		  replace_file(instance, INSTANCE_RECORD, plan->state.new_record, error);

	if (ok && plan->state.new_requested)
		ok = replace_file(instance, plan->state.requested_name, plan->state.new_requested,
				  error);
	if (ok && plan->state.new_approval)
		ok = replace_file(instance, plan->state.approval_name, plan->state.new_approval,
				  error);
	return ok && (!plan->state.guarded_name || write_guarded(instance, &plan->state, error));
}

// Adds an instance to the record of a place. Instances that no longer exist leave it.
static bool write_place(int root, int places, const char *place, const char *id,
			struct error *error)
{
	const char *name = instance_id(error->arena, place);
	const char *text = file_read_at(error->arena, places, name, PLACE_LIMIT);
	struct text out = { .arena = error->arena };
	strings ids = { 0 };

	if (text)
		ids = instance_place_ids(error->arena, text);
	vec_each(known, &ids) {
		const char *instance =
			arena_printf(error->arena, INSTANCES_DIRECTORY "/%s", *known);

		if (!str_equal(*known, id) &&
		    faccessat(root, instance, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			text_printf(&out, "%s\n", *known);
	}
	text_printf(&out, "%s\n", id);
	return str_equal(text, text_get(&out)) || replace_file(places, name, text_get(&out), error);
}

// Records places outside of the root that the box writes. See src/probe/known_projects.c.
static bool write_places(int root, const struct plan_state *state, struct error *error)
{
	CLEANUP_FD int places = -1;

	if (!state->places.count)
		return true;
	places = open_directory(root, STATE_PLACES, STATE_PLACES, error);
	if (places < 0)
		return false;
	vec_each(place, &state->places) {
		if (!write_place(root, places, *place,
				 instance_id(error->arena, state->canonical_root), error))
			return false;
	}
	return true;
}

// Stores the list of Claude files without secrets. The start does not depend on it: without it, the
// next one searches them again.
static void write_searched(int root, const struct plan_state *state, struct arena *arena)
{
	struct error ignored = { .arena = arena };

	if (state->new_searched)
		replace_file_bytes(root, STATE_SEARCHED, state->new_searched,
				   state->new_searched_size, &ignored);
}

// Returns whether the file still has the content that the plan is based on. Another box of this
// project may have started and changed it since the probe.
static bool is_unchanged(int claude, const struct plan_file *file, struct arena *arena)
{
	return str_equal(file_read_single_at(arena, claude, file->name, BOX_FILE_LIMIT),
			 file->based_on);
}

// Keeps an invalid file under another name. A box may have put a directory there.
static bool keep_invalid_file(int claude, const struct plan_file *file, struct error *error)
{
	if (renameat(claude, file->name, claude, file->keep_as) == 0)
		return true;
	if (!move_aside(claude, file->keep_as, error))
		return false;
	return renameat(claude, file->name, claude, file->keep_as) == 0 || errno == ENOENT ||
	       write_fail(error, "rename", file->name);
}

static bool keep_old_file(int claude, const struct plan_file *file, struct error *error)
{
	if (!file->keep_as)
		return true;
	if (!keep_invalid_file(claude, file, error))
		return false;
	output_message("claudebox",
		       "'~/.claude/%s' of the box %s: it is kept as '%s', and the box gets a new "
		       "one",
		       file->name,
		       file->based_on ? "was not valid JSON"
				      : "was too large, no text or a hard link",
		       file->keep_as);
	return true;
}

// Writes a merged file, then the base of the next merge. Claude writes its account file often: if
// another box has changed it since the probe, that base would make servers that the box never got
// look as if the box had removed them.
static bool write_merged(int instance, int claude, const struct plan_file *file, bool beside,
			 struct error *error)
{
	const struct plan_merged *merged = beside ? &file->beside : &file->alone;

	if (!is_unchanged(claude, file, error->arena))
		return true;
	if (merged->content && !(keep_old_file(claude, file, error) &&
				 replace_file(claude, file->name, merged->content, error)))
		return false;
	return !merged->base || replace_file(instance, file->base_name, merged->base, error);
}

// Writes the Claude directory. `beside`: another box of the instance uses it.
static bool write_claude(int instance, int claude, const struct plan *plan, bool beside,
			 struct error *error)
{
	if (!beside)
		remove_stale_links(claude, plan, error->arena);
	vec_each(link, &plan->state.links) {
		if (!create_link(claude, link, beside, error))
			return false;
	}
	vec_each(file, &plan->state.files) {
		if (!write_merged(instance, claude, file, beside, error))
			return false;
	}
	return true;
}

static void lock_share(int lock)
{
	while (flock(lock, LOCK_SH) < 0 && errno == EINTR)
		;
}

// Takes the lock of an instance, which lasts as long as the returned descriptor is open: the
// exclusive one if no other box runs, otherwise the shared one, and stores which. Waits for a
// removal or another start in progress. Returns -1 with an error, or REMOVED when --gc has removed
// the instance.
static int lock_instance(int instance, bool *ret_beside, struct error *error)
{
	CLEANUP_FD int lock = lock_open(instance, INSTANCE_LOCK);
	struct stat status;

	if (lock < 0) {
		if (errno == ENOENT)
			return REMOVED;
		write_fail(error, "write", INSTANCE_LOCK);
		return -1;
	}
	// This fails on a file system without locks. There --gc cannot lock either, and it
	// removes nothing; and no other box is known.
	*ret_beside = flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (*ret_beside)
		lock_share(lock);
	if (fstat(lock, &status) == 0 && status.st_nlink == 0)
		return REMOVED;
	futimens(lock, NULL);
	return take_fd(&lock);
}

// Renames the instance of an earlier directory, unless another launch has just done that. A box may
// still run in it: the mounts and the lock of that box do not depend on the name.
static bool keep_instance(int instances, const struct plan_state *state, struct error *error)
{
	const char *id = path_name(state->instance);
	CLEANUP_FD int old = openat(instances, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *text =
		old < 0 ? NULL : file_read_at(error->arena, old, INSTANCE_RECORD, BOX_FILE_LIMIT);
	struct instance_record record;

	if (!instance_read_record(error->arena, id, text, &record) ||
	    !instance_is_replaced(&record.identity, &state->identity))
		return true;
	return renameat2(instances, id, instances, state->kept_as, RENAME_NOREPLACE) == 0 ||
	       write_fail(error, "rename", state->instance);
}

// Keeps the instance of an earlier directory, and creates a new one with its record. The lock on
// the directory of all instances makes that one step for other launches.
static bool replace_instance(int instances, const struct plan_state *state, struct error *error)
{
	CLEANUP_FD int lock = openat(instances, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int new = -1;

	while (lock >= 0 && flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	if (!keep_instance(instances, state, error))
		return false;
	new = open_directory(instances, path_name(state->instance), state->instance, error);
	return new >= 0 &&
	       (!state->new_record || replace_file(new, INSTANCE_RECORD, state->new_record, error));
}

// Opens and locks the instance. Creates it again when --gc removes it between the two steps.
static int open_instance(int root, const struct plan_state *state, int *ret_lock, bool *ret_beside,
			 struct error *error)
{
	const char *all = path_parent(error->arena, state->instance);
	CLEANUP_FD int instances = open_directory(root, path_name(all), all, error);

	if (instances < 0 || (state->kept_as && !replace_instance(instances, state, error)))
		return -1;
	for (int i = 0; i < ATTEMPTS; i++) {
		CLEANUP_FD int instance = open_directory(instances, path_name(state->instance),
							 state->instance, error);
		int lock = instance < 0 ? -1 : lock_instance(instance, ret_beside, error);

		if (lock == -1)
			return -1;
		if (lock >= 0) {
			*ret_lock = lock;
			return take_fd(&instance);
		}
	}
	errno = EBUSY;
	write_fail(error, "lock", state->instance);
	return -1;
}

// Removes the temporary files that killed launches have left.
static void clean_up(int root, int instance, int claude)
{
	CLEANUP_FD int packages =
		openat(root, "packages", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	remove_temporaries(root);
	remove_temporaries(instance);
	remove_temporaries(claude);
	if (packages >= 0)
		remove_temporaries(packages);
}

int instance_prepare(const struct plan *plan, struct error *error)
{
	const struct plan_state *state = &plan->state;
	CLEANUP_FD int root = state_open_root(state->root, error);
	CLEANUP_FD int instance = -1;
	CLEANUP_FD int claude = -1;
	CLEANUP_FD int credentials = -1;
	CLEANUP_FD int lock = -1;
	bool beside;

	if (root < 0 || (state->upgrade.needed && !state_upgrade(plan, root, error)))
		return -1;
	instance = open_instance(root, state, &lock, &beside, error);
	if (instance < 0)
		return -1;
	claude = open_directory(instance, path_name(state->claude), state->claude, error);
	if (claude < 0)
		return -1;
	credentials =
		open_directory(root, path_name(state->credentials), state->credentials, error);
	if (credentials < 0)
		return -1;
	clean_up(root, instance, claude);
	if (state->new_version &&
	    !replace_file(root, STATE_VERSION_FILE, state->new_version, error))
		return -1;
	write_searched(root, state, error->arena);
	if (!write_places(root, state, error) || !write_records(instance, plan, error) ||
	    !write_claude(instance, claude, plan, beside || state->beside, error))
		return -1;
	if (!beside)
		lock_share(lock);
	return take_fd(&lock);
}
