// SPDX-License-Identifier: MIT
// Finds the project of this user whose boxes can write a path.
//
// Theory of operation: the name of an instance is a digest of its canonical root. So each directory
// above a path is looked up among the instances, and no list is read; a list is needed only to find
// the projects below a path. A directory that boxes of a project write outside of its root (a
// linked worktree, a separate git directory) has a file in ~/.claudebox/places, which is named by
// the same digest and contains the root.
#include "probe/known_projects.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { MAX_ROOTS = 4096, RECORD_LIMIT = 64 * 1024 };

static bool has_instance(struct arena *arena, const struct facts *facts, const char *root)
{
	return faccessat(AT_FDCWD, plan_instance_of(arena, facts, root), F_OK,
			 AT_SYMLINK_NOFOLLOW) == 0;
}

// Returns whether the directory is a place of a project that still has an instance.
static bool is_place(struct arena *arena, const struct facts *facts, const char *directory)
{
	const char *file = arena_printf(arena, "%s/" STATE_PLACES "/%s", facts->state.root,
					instance_id(arena, directory));
	const char *root = file_read(arena, file, PATH_MAX, 0);

	return root && has_instance(arena, facts, root);
}

const char *probe_known_project(struct arena *arena, const struct facts *facts, const char *path)
{
	if (facts->state.root_kind != FILE_DIRECTORY || path[0] != '/')
		return NULL;
	for (const char *at = path; !str_equal(at, "/"); at = path_parent(arena, at))
		if (has_instance(arena, facts, at) || is_place(arena, facts, at))
			return at;
	return NULL;
}

strings probe_known_roots(struct arena *arena, const struct facts *facts)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(
		AT_FDCWD, path_join(arena, facts->state.root, INSTANCES_DIRECTORY));
	const struct dirent *entry;
	strings roots = { 0 };

	while (directory && (entry = readdir(directory)) && roots.count < MAX_ROOTS) {
		const char *file = arena_printf(arena, "%s/" INSTANCE_RECORD, entry->d_name);
		struct instance_record record = { 0 };

		if (instance_id_valid(entry->d_name) &&
		    instance_read_record(arena, entry->d_name,
					 file_read_at(arena, dirfd(directory), file, RECORD_LIMIT),
					 &record))
			vec_push(arena, &roots, record.root);
	}
	return roots;
}
