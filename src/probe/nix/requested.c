// SPDX-License-Identifier: MIT
// Looks into the project's .claudebox directory, which the repository wrote.
#include "probe/nix/requested.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/nix/requested.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { TOOLS_LIMIT = 16 * 1024, MOST_OTHERS = 5, MOST_ENTRIES = 100 };

static void list_others(struct requested_facts *requested, struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory)
		return;
	take_fd(&fd);
	for (int i = 0; i < MOST_ENTRIES && (entry = readdir(directory)); i++) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..") ||
		    str_equal(entry->d_name, REQUESTED_FILE))
			continue;
		if (requested->others.count < MOST_OTHERS)
			vec_push(arena, &requested->others, arena_strdup(arena, entry->d_name));
	}
}

void probe_requested_packages(struct facts *facts, struct arena *arena)
{
	struct requested_facts *requested = &facts->requested;
	const char *path = path_join(arena, facts->project, REQUESTED_DIRECTORY);
	struct stat status;

	if (lstat(path, &status) < 0)
		return;
	requested->kind = S_ISDIR(status.st_mode) ? FILE_DIRECTORY : FILE_OTHER;
	if (requested->kind != FILE_DIRECTORY)
		return;
	requested->path = path;
	requested->id = (struct file_id){ .device = status.st_dev, .inode = status.st_ino };
	requested->requested = requested_parse(
		arena, file_read(arena, path_join(arena, path, REQUESTED_FILE), TOOLS_LIMIT, 0));
	list_others(requested, arena, path);
	if (facts->state.root_kind == FILE_DIRECTORY)
		requested->answer = requested_answered(
			arena, &requested->requested.tools,
			file_read(arena,
				  path_join(arena, plan_instance_path(arena, facts),
					    plan_requested_name(arena, facts)),
				  TOOLS_LIMIT, 0));
}
