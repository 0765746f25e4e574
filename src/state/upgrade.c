// SPDX-License-Identifier: MIT
// Takes over the state of an earlier claudebox, as the plan says.
//
// Theory of operation: copies come first and leave the old state as it is; what is there already is not copied again. Only
// when all of them are on the disk is the backup begun, into which the old state is renamed piece by piece; its name says
// that it is not complete. So at any moment all of the old state is there, at one of two places, and whoever starts
// next knows what is left to do.
#include "state/upgrade.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/upgrade.h"
#include "sys/cleanup.h"
#include "sys/copy_tree.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { MOST_BACKUPS = 100 };

// Opens or makes each directory on the way to `path` below `top`, but not its last part; -1 with errno.
static int open_way(int top, const char *path, struct arena *arena)
{
	struct error ignored = { .arena = arena };
	int at = fcntl(top, F_DUPFD_CLOEXEC, 0);

	for (const char *rest = path; at >= 0 && strchr(rest, '/');
	     rest += strcspn(rest, "/") + 1) {
		const char *name = arena_strndup(arena, rest, strcspn(rest, "/"));
		int next = open_directory(at, name, name, &ignored);
		int problem = errno;

		close(at);
		errno = problem;
		at = next;
	}
	return at;
}

static bool copy_part(int root, int instance, const struct plan_copy *copy, size_t *left,
		      struct error *error)
{
	struct arena *arena = error->arena;
	CLEANUP_FD int claude = open_directory(instance, "claude", copy->instance, error);
	CLEANUP_FD int from =
		file_open(root, path_parent(arena, copy->path), O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int to = -1;

	if (claude < 0)
		return false;
	if (from >= 0)
		to = open_way(claude, copy->path, arena);
	if (from < 0 || (to < 0 && (errno == ENOTDIR || errno == ELOOP))) {
		++*left; // it is in the backup
		return true;
	}
	return (to >= 0 && copy_tree(from, to, path_name(copy->path), instance, left)) ||
	       write_fail(error, "copy", copy->path);
}

static bool copy_parts(const struct plan_upgrade *upgrade, int root, size_t *left,
		       struct error *error)
{
	CLEANUP_FD int all = open_directory(root, INSTANCES_DIRECTORY, INSTANCES_DIRECTORY, error);

	if (all < 0)
		return false;
	vec_each(row, &upgrade->instances) {
		CLEANUP_FD int instance = open_directory(all, row->id, row->id, error);

		if (instance < 0)
			return false;
		if (faccessat(instance, INSTANCE_RECORD, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		    !replace_file(instance, INSTANCE_RECORD, row->record, error))
			return false;
		vec_each(copy, &upgrade->copies) {
			if (str_equal(copy->instance, row->id) &&
			    !copy_part(root, instance, copy, left, error))
				return false;
		}
	}
	return true;
}

static bool take_sign_in(const struct plan_state *state, int root, struct error *error)
{
	CLEANUP_FD int credentials =
		open_directory(root, path_name(state->credentials), state->credentials, error);
	CLEANUP_FD int store = credentials < 0 ? -1
					       : open_directory(credentials, CREDENTIALS_STORE,
								state->credentials, error);

	return store >= 0 &&
	       replace_file(store, ".credentials.json", state->upgrade.credentials, error);
}

// Returns its name; NULL with an error.
static const char *make_backup(const struct plan_upgrade *upgrade, int root, struct error *error)
{
	CLEANUP_FD int backup = open_directory(root, BACKUP_BEGUN, BACKUP_BEGUN, error);

	if (backup < 0)
		return NULL;
	vec_each(name, &upgrade->moves) {
		if (renameat2(root, *name, backup, *name, RENAME_NOREPLACE) < 0 &&
		    errno != ENOENT) {
			write_fail(error, "move to the backup", *name);
			return NULL;
		}
	}
	for (int i = 0; i < MOST_BACKUPS; i++) {
		const char *name =
			arena_printf(error->arena, "%s%s%.0d", upgrade->backup, i ? "-" : "", i);

		if (renameat2(root, BACKUP_BEGUN, root, name, RENAME_NOREPLACE) == 0)
			return name;
		if (errno != EEXIST)
			break;
	}
	write_fail(error, "name the backup", upgrade->backup);
	return NULL;
}

bool state_upgrade(const struct plan *plan, int root, struct error *error)
{
	const struct plan_upgrade *upgrade = &plan->state.upgrade;
	const char *backup;
	size_t left = 0;

	// Two starts at once: the second finds it done. Where there are no locks, each step bears the other's.
	flock(root, LOCK_EX);
	if (faccessat(root, STATE_VERSION_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	if (!upgrade->begun) {
		if (!copy_parts(upgrade, root, &left, error) ||
		    (upgrade->credentials && !take_sign_in(&plan->state, root, error)))
			return false;
		if (syncfs(root) < 0)
			return write_fail(error, "write to the disk", plan->state.root);
	}
	backup = make_backup(upgrade, root, error);
	if (!backup || !replace_file(root, STATE_VERSION_FILE, STATE_VERSION_TEXT, error))
		return false;
	flock(root, LOCK_UN);
	output_message("claudebox", "the earlier state is now in '%s/%s'",
		       quote_display(error->arena, plan->state.root, 0), backup);
	if (left)
		output_message("claudebox",
			       "%zu links and other things in conversations are only there", left);
	return true;
}
