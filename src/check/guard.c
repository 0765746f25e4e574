// SPDX-License-Identifier: MIT
// --check: what the kernel gives to the guard of the project.
#include "check/guard.h"

#include "base/arena.h"
#include "check/finding.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/guard/places.h"
#include "probe/tree_size.h"
#include "render/check.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NUMBER_SIZE = 32,
	MAX_ENTRIES = 1000000, // of the project that are counted
	USUAL_WATCHES = 524288,
	USUAL_INSTANCES = 512,
};

// Reads a limit of the kernel. A missing file is no limit.
static uint64_t read_limit(const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[NUMBER_SIZE] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return UINT64_MAX;
	return strtoull(text, NULL, 10);
}

// Returns how many watches the user may have: the limit of the machine, or a lower one of this
// user namespace.
static uint64_t watch_limit(void)
{
	uint64_t machine = read_limit("/proc/sys/fs/inotify/max_user_watches");
	uint64_t own = read_limit("/proc/sys/user/max_inotify_watches");

	return own < machine ? own : machine;
}

static bool can_watch(void)
{
	CLEANUP_FD int fd = inotify_init1(IN_CLOEXEC);

	return fd >= 0;
}

// Returns whether the kernel mounts symbolic links, and no container refuses it.
static bool can_mount_links(void)
{
	CLEANUP_FD int fd = (int)syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLOEXEC);

	if (fd < 0)
		return false;
	return syscall(SYS_move_mount, -1, "", -1, "", 0) == 0 || errno != ENOSYS;
}

struct finding check_guard(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	struct tree_size size = { .skips = guard_is_dependency };
	uint64_t limit = watch_limit();
	const char *more;
	const char *links = can_mount_links()
				    ? ""
				    : "; git's configuration is read-only in the box: this kernel "
				      "has no open_tree(2)";

	if (config->project == PROJECT_READ_ONLY)
		return finding_ok("not needed: the project is read-only");
	if (!can_watch())
		return finding_broken(
			arena_printf(arena, "cannot watch the project: %s", strerror(errno)),
			arena_printf(arena, "run `sudo sysctl fs.inotify.max_user_instances=%d`",
				     USUAL_INSTANCES));
	if (!facts->project_problem)
		tree_size_add(&size, AT_FDCWD, facts->project, MAX_ENTRIES);
	more = size.incomplete ? " or more" : "";
	if (size.directories > limit)
		return finding_broken(
			arena_printf(arena,
				     "the project has %" PRIu64 "%s directories, and the kernel "
				     "allows %" PRIu64 " inotify watches%s",
				     size.directories, more, limit, links),
			arena_printf(arena,
				     "run `sudo sysctl fs.inotify.max_user_watches=%" PRIu64 "`",
				     size.directories > USUAL_WATCHES / 2 ? size.directories * 4
									  : USUAL_WATCHES));
	return finding_ok(arena_printf(
		arena, "watches %" PRIu64 "%s directories, of %" PRIu64 " inotify watches%s",
		size.directories, more, limit, links));
}
