// SPDX-License-Identifier: MIT
// Finds the project of this user whose boxes can write a path.
//
// Theory of operation: the name of an instance is a digest of its canonical root. So each directory
// above a path is looked up among the instances, and no list is read; a list is needed only to find
// the projects below a path. A place that boxes of a project write outside of its root (a linked
// worktree, a separate git directory, a requested mount) has a file in ~/.claudebox/places, which
// is named by the same digest and lists the instances.
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
#include <unistd.h>

enum { MAX_ROOTS = 4096, RECORD_LIMIT = 64 * 1024 };

static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// Returns whether the path is a place of a project that still has an instance.
static bool is_place(struct arena *arena, const struct facts *facts, const char *path)
{
	const char *file = arena_printf(arena, "%s/" STATE_PLACES "/%s", facts->state.root,
					instance_id(arena, path));
	const char *text = file_read(arena, file, PLACE_LIMIT, 0);
	strings ids = { 0 };

	if (text)
		ids = instance_place_ids(arena, text);
	vec_each(id, &ids) {
		const char *instance = arena_printf(arena, "%s/" INSTANCES_DIRECTORY "/%s",
						    facts->state.root, *id);

		if (exists(instance))
			return true;
	}
	return false;
}

// Returns whether the directory is the root of a project, or a place of one that still has an
// instance.
static bool is_project(struct arena *arena, const struct facts *facts, const char *directory)
{
	return exists(plan_instance_of(arena, facts, directory)) ||
	       is_place(arena, facts, directory);
}

static bool has_string(const strings *list, const char *wanted)
{
	for (size_t i = list ? list->count : 0; i-- > 0;)
		if (str_equal(list->items[i], wanted))
			return true;
	return false;
}

// The directories above two paths are mostly the same ones: with eight toolchain managers, 16 paths
// have 72. So the search ends at the first directory that an earlier one has passed.
const char *probe_known_project(struct arena *arena, const struct facts *facts, const char *path)
{
	strings *passed = facts->state.passed;
	strings now = { 0 };

	if (facts->state.root_kind != FILE_DIRECTORY || path[0] != '/')
		return NULL;
	for (const char *at = path; !str_equal(at, "/") && !has_string(passed, at);
	     at = path_parent(arena, at)) {
		if (is_project(arena, facts, at))
			return at;
		if (at != path) // which is memory of the caller
			vec_push(arena, &now, at);
	}
	vec_each(directory, &now) {
		if (passed)
			vec_push(arena, passed, *directory);
	}
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
