// SPDX-License-Identifier: MIT
// Which file system a path is on, in words that still mean something after a restart of the machine.
#include "probe/file_system.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

bool probe_is_mount_point(const char *path)
{
	struct statx status;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &status) == 0 &&
	       (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

const char *probe_file_system_id(struct arena *arena, const char *path)
{
	struct statfs system;
	unsigned int halves[2];

	// What is in memory is another one each time it is mounted, and what it held is gone: that must not keep anything.
	if (statfs(path, &system) < 0 || system.f_type == TMPFS_MAGIC ||
	    system.f_type == RAMFS_MAGIC)
		return NULL;
	memcpy(halves, &system.f_fsid, sizeof(halves));
	return halves[0] || halves[1] ? arena_printf(arena, "%08x%08x", halves[0], halves[1])
				      : NULL;
}

struct file_system probe_file_system(struct arena *arena, const char *path)
{
	// Kernels before 5.8 do not tell; nor is there an answer in a chroot.
	while (!probe_is_mount_point(path)) {
		if (str_equal(path, "/"))
			return (struct file_system){ 0 };
		path = path_parent(arena, path);
	}
	return (struct file_system){ .mount_point = path, .id = probe_file_system_id(arena, path) };
}
