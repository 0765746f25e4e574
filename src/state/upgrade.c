// SPDX-License-Identifier: MIT
// Takes over the flat state of an earlier claudebox: copies conversations, then moves everything.
//
// Theory of operation: every entry is always in ~/.claudebox or in the backup directory. A copy
// never replaces a file, and the version file is written last. So every step is idempotent, and the
// next start finishes an interrupted upgrade.
#include "state/upgrade.h"

#include "base/path.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "plan/state/upgrade.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

static bool exists(int directory, const char *name)
{
	return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// Opens the directory of a conversation in the instance of its project. Creates missing directories
// and the record of the instance. Returns -1 with an error.
static int open_target(int root, const struct flat_conversation *from, struct error *error)
{
	const struct instance_record project = { .root = from->root, .on = from->on };
	const char *record = instance_render_record(error->arena, &project);
	const char *id = instance_id(error->arena, from->root);
	const char *slug = path_name(path_parent(error->arena, from->path));
	const char *const names[] = { INSTANCES_DIRECTORY, id, "claude", "projects", slug };
	CLEANUP_FD int at = fcntl(root, F_DUPFD_CLOEXEC, 0);

	for (size_t i = 0; at >= 0 && i < ARRAY_SIZE(names); i++) {
		int next = open_directory(at, names[i], from->path, error);

		// Boxes write below `claude`, and may have put a file or a link there.
		if (next < 0 && i > 2 && move_aside(at, names[i], error))
			next = open_directory(at, names[i], from->path, error);
		close(at);
		at = next;
		if (names[i] == id && !exists(at, INSTANCE_RECORD) &&
		    !replace_file(at, INSTANCE_RECORD, record, error))
			return -1;
	}
	return take_fd(&at);
}

static bool copy_conversation(int root, const struct flat_conversation *from, struct error *error)
{
	CLEANUP_FD int target = open_target(root, from, error);
	const char *name = path_name(from->path);
	struct arena scratch = { 0 };
	const char *text = file_read_at(&scratch, root, from->path, CONVERSATION_LIMIT);
	struct stat status;
	bool ok = target >= 0;

	if (ok && text && !exists(target, name) &&
	    fstatat(root, from->path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		const struct timespec times[] = { status.st_atim, status.st_mtim };

		ok = replace_file(target, name, text, error);
		utimensat(target, name, times, AT_SYMLINK_NOFOLLOW); // Claude sorts by it
	}
	arena_free(&scratch);
	return ok;
}

bool state_upgrade(const struct plan *plan, int root, struct error *error)
{
	CLEANUP_FD int backup = open_directory(root, FLAT_BACKUP, FLAT_BACKUP, error);
	strings names = list_directory(error->arena, root, ".");

	// A start at the same time waits here, and then finds the version file.
	flock(root, LOCK_EX);
	if (backup < 0 || exists(root, STATE_VERSION_FILE))
		return backup >= 0;
	vec_each(conversation, &plan->state.upgrade.conversations) {
		if (conversation->root && !copy_conversation(root, conversation, error))
			return false;
	}
	vec_each(name, &names) {
		if (!layout_has_name(*name) &&
		    renameat2(root, *name, backup, *name, RENAME_NOREPLACE) < 0 &&
		    errno != ENOENT && errno != EEXIST)
			return write_fail(error, "move to the backup", *name);
	}
	return true;
}
