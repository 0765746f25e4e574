// SPDX-License-Identifier: MIT
// Reads a file with settings of a program of the user.
#include "probe/settings/settings_file.h"

#include "base/arena.h"
#include "base/path.h"
#include "plan/facts.h"
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *probe_settings_file(struct arena *arena, const struct facts *facts,
				const struct followed *file, size_t limit, int flags,
				const char **ret_problem)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, file->real, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	bool in_store = path_within(file->real, "/nix/store");
	const char *text = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		*ret_problem = arena_printf(arena, "it cannot be opened: %s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		*ret_problem = "it is not a regular file";
	else if (!probe_owner_trusted(facts, status.st_uid) && !in_store)
		*ret_problem = "it belongs to another user";
	else if (status.st_nlink > 1 && !in_store && !(flags & SETTINGS_LINKED))
		*ret_problem = "it has another name (a hard link), which may be that of a secret";
	else if ((size_t)status.st_size > limit)
		*ret_problem = arena_printf(arena, "it is longer than %zu KiB", limit / 1024);
	else if (!(text = file_read_descriptor(arena, fd, limit)))
		*ret_problem = "it is not text";
	return text;
}
