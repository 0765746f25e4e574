// SPDX-License-Identifier: MIT
// Identifies the file system that a path is on, in a form that stays valid after a reboot.
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
	struct statfs status;
	unsigned int halves[2];

	// A file system in memory gets a new id at each mount and its files are gone by then, so
	// its id must not protect the state of a project.
	if (statfs(path, &status) < 0 || status.f_type == TMPFS_MAGIC ||
	    status.f_type == RAMFS_MAGIC)
		return NULL;
	memcpy(halves, &status.f_fsid, sizeof(halves));
	return halves[0] || halves[1] ? arena_printf(arena, "%08x%08x", halves[0], halves[1])
				      : NULL;
}

struct file_system probe_file_system(struct arena *arena, const char *path)
{
	// Kernels before 5.8 do not report mount points. In a chroot, '/' may be none.
	while (!probe_is_mount_point(path)) {
		if (str_equal(path, "/"))
			return (struct file_system){ 0 };
		path = path_parent(arena, path);
	}
	return (struct file_system){ .mount_point = path, .id = probe_file_system_id(arena, path) };
}
