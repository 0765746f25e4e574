// SPDX-License-Identifier: MIT
// Finds sessions that were started in other directories of the project.
#include "snapshot/elsewhere.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/state/instances.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"

#include <fcntl.h>
#include <string.h>

enum { MOST_INSTANCES = 5000, MOST_STORES = 1000, PATH_LIMIT = 4096 };

struct search {
	struct arena *arena;
	const char *project;
	const char *top;   // of the repository, NULL: there is none
	const char *above; // the nearest
	const char *below;
};

static void consider(struct search *search, const char *path)
{
	if (str_equal(path, search->project))
		return;
	if (path_within(search->project, path) &&
	    (!search->top || path_within(path, search->top)) &&
	    (!search->above || strlen(path) > strlen(search->above)))
		search->above = path;
	if (path_within(path, search->project) &&
	    (!search->below || strlen(path) < strlen(search->below)))
		search->below = path;
}

// Considers the projects of an instance.
static void search_instance(struct search *search, int all, const char *name)
{
	struct arena *arena = search->arena;
	const char *place = path_join(arena, name, INSTANCE_SNAPSHOTS);
	strings stores = list_directory_up_to(arena, all, place, MOST_STORES);

	vec_each(store, &stores) {
		const char *path = path_join(arena, place, *store);
		const char *project =
			file_read_at(arena, all, path_join(arena, path, STORE_PROJECT), PATH_LIMIT);

		if (project &&
		    list_directory_up_to(arena, all, path_join(arena, path, "sessions"), 1).count)
			consider(search, project);
	}
}

const char *elsewhere_find(const struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);
	const char *place = path_parent(arena, plan_instance_path(arena, facts));
	CLEANUP_FD int all = file_open(AT_FDCWD, place, O_RDONLY | O_DIRECTORY);
	struct search search = { .arena = arena,
				 .project = facts->project,
				 .top = git ? git->top : NULL };
	strings names = { 0 };

	if (all >= 0)
		names = list_directory_up_to(arena, all, ".", MOST_INSTANCES);
	vec_each(name, &names) {
		if (instance_id_valid(*name))
			search_instance(&search, all, *name);
	}
	return search.above ? search.above : search.below;
}
