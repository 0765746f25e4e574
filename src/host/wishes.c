// SPDX-License-Identifier: MIT
// Looks into the project's .claudebox directory, which the repository wrote.
#include "host/probe.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { TOOLS_LIMIT = 16 * 1024, MOST_OTHERS = 5, MOST_ENTRIES = 100 };

static void list_others(struct wish_facts *wish, struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory)
		return;
	take_fd(&fd);
	for (int i = 0; i < MOST_ENTRIES && (entry = readdir(directory)); i++) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..") ||
		    str_equal(entry->d_name, WISH_FILE))
			continue;
		if (wish->others.count < MOST_OTHERS)
			vec_push(arena, &wish->others, arena_strdup(arena, entry->d_name));
	}
}

void probe_wishes(struct host *host, struct arena *arena)
{
	struct wish_facts *wish = &host->wish;
	const char *path = path_join(arena, host->project, WISH_DIRECTORY);
	struct stat status;

	if (lstat(path, &status) < 0)
		return;
	wish->kind = S_ISDIR(status.st_mode) ? FILE_DIRECTORY : FILE_OTHER;
	if (wish->kind != FILE_DIRECTORY)
		return;
	wish->path = path;
	wish->id = (struct file_id){ .device = status.st_dev, .inode = status.st_ino };
	wish->wishes = wishes_parse(arena, probe_read(arena, path_join(arena, path, WISH_FILE),
						      TOOLS_LIMIT, 0));
	list_others(wish, arena, path);
	if (host->state.root_kind == FILE_DIRECTORY)
		wish->answer =
			wishes_answered(arena, &wish->wishes.tools,
					probe_read(arena,
						   path_join(arena, plan_instance_path(arena, host),
							     plan_wish_name(arena, host)),
						   TOOLS_LIMIT, 0));
}
