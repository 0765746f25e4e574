// SPDX-License-Identifier: MIT
// Reads a file with settings of a program of the user.
#include "probe/settings_file.h"

#include "base/arena.h"
#include "base/path.h"
#include "plan/facts.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *probe_settings_file(struct arena *arena, const struct facts *facts,
				const struct followed *file, int flags, const char **ret_problem)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, file->real, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	bool in_store = path_within(file->real, "/nix/store");
	const char *text = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		*ret_problem = arena_printf(arena, "it cannot be opened: %s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		*ret_problem = "it is not a regular file";
	else if (status.st_uid != facts->uid && status.st_uid != 0 && !in_store)
		*ret_problem = "it belongs to another user";
	else if (status.st_nlink > 1 && !in_store && !(flags & SETTINGS_LINKED))
		*ret_problem = "it has another name (a hard link), which may be that of a secret";
	else if (status.st_size > SETTINGS_LIMIT)
		*ret_problem = "it is longer than 256 KiB";
	else if (!(text = file_read_descriptor(arena, fd, SETTINGS_LIMIT)))
		*ret_problem = "it is not text";
	return text;
}
