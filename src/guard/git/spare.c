// SPDX-License-Identifier: MIT
// Copies of git configurations that the next launch uses again.
//
// Theory of operation: a repository with 100 submodules has 100 copies. ext4 passes over inodes
// that were removed in the last minute when it creates a file, one by one: with the copies of ten
// launches, creating the next 100 took 10 to 40 ms, longer than bwrap needs. A rename takes 5 µs.
// A copy is kept only if its content is that of the host, and used only if it still is and no
// other user and no other name (a hard link) reaches the file.
#include "guard/git/spare.h"

#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPARE "git-config.spare"

enum { PERMISSIONS = 07777, OWNERS = S_IRUSR | S_IWUSR };

int spare_open(int instance, bool create)
{
	if (instance < 0 || (create && mkdirat(instance, SPARE, S_IRWXU) < 0 && errno != EEXIST))
		return -1;
	return openat(instance, SPARE, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Returns whether a file is one that create_file() could have created: a box can replace it.
static bool is_plain(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && (status.st_mode & PERMISSIONS) == OWNERS &&
	       status.st_uid == geteuid() && status.st_nlink == 1;
}

bool spare_take(struct arena *arena, int spare, int copies, const char *name, const char *text)
{
	const char *found;

	if (spare < 0 || renameat(spare, name, copies, name) < 0)
		return false;
	found = is_plain(copies, name) ? file_read_at(arena, copies, name, strlen(text)) : NULL;
	if (found && str_equal(found, text))
		return true;
	unlinkat(copies, name, 0);
	return false;
}

void spare_keep(int spare, int copies, const char *name)
{
	if (spare >= 0 && is_plain(copies, name))
		renameat(copies, name, spare, name);
}
