// SPDX-License-Identifier: MIT
// Visits the files of a directory tree, within limits.
#include "probe/mounts/walk.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>

// Tools that build with hard links (cargo, ccache) use the directories of build results.
static bool is_skipped(const char *name)
{
	static const char *const skipped[] = { ".",      "..",     ".git",        "node_modules",
					       "target", "build",  "dist",        ".venv",
					       "venv",   "vendor", "__pycache__", ".direnv",
					       ".tox",   ".nox",   "out",         ".cache" };

	for (size_t i = 0; i < ARRAY_SIZE(skipped); i++)
		if (str_equal(name, skipped[i]))
			return true;
	return false;
}

static bool visit_directory(struct walk *walk, int parent, const char *name, const char *path,
			    int depth)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(parent, name);
	struct walk_place place = { .fd = directory ? dirfd(directory) : -1, .path = path };
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		bool below = entry->d_type == DT_DIR;

		if (walk->entries-- <= 0)
			return false;
		if (below && (depth == 1 || is_skipped(entry->d_name) || walk->directories-- <= 0))
			continue;
		if (below ? !visit_directory(walk, place.fd, entry->d_name,
					     path_join(walk->arena, path, entry->d_name), depth - 1)
			  : !walk->visit(walk->context, &place, entry))
			return false;
	}
	return true;
}

void walk_directory(struct walk *walk, const char *root, int depth)
{
	visit_directory(walk, AT_FDCWD, root, root, depth);
}
