// SPDX-License-Identifier: MIT
// Reads the requested packages from the project's directory .claudebox. The repository wrote it, so
// links are not followed and sizes are bounded.
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

enum { LIST_MAX = 16 * 1024, OTHERS_MAX = 5, ENTRIES_MAX = 100 };

static void list_other_files(struct requested_facts *requested, struct arena *arena,
			     const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory)
		return;
	take_fd(&fd);
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(directory)); i++) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..") ||
		    str_equal(entry->d_name, REQUESTED_FILE))
			continue;
		if (requested->others.count < OTHERS_MAX)
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
	requested->id = file_identity(&status);
	requested->list = requested_parse(
		arena, file_read(arena, path_join(arena, path, REQUESTED_FILE), LIST_MAX, 0));
	list_other_files(requested, arena, path);
	if (facts->state.root_kind == FILE_DIRECTORY && !facts->state.kept_as)
		requested->answer = requested_parse_answer(
			arena, &requested->list.packages,
			file_read(arena,
				  path_join(arena, plan_instance_path(arena, facts),
					    plan_requested_name(arena, facts)),
				  LIST_MAX, 0));
}
