// SPDX-License-Identifier: MIT
// Recognises the flat state of an earlier claudebox and finds the projects of its conversations.
// Boxes of all projects could write that state, so no symbolic link in it is followed.
#include "probe/flat.h"

#include "base/path.h"
#include "base/text.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "plan/state/upgrade.h"
#include "probe/file_system.h"
#include "probe/git/enclosing.h"
#include "probe/git/repository.h"
#include "probe/instances.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"

#include <fcntl.h>
#include <string.h>

// Returns the canonical root that a start in `project` has; NULL when no box can start there.
static const char *find_root(const struct facts *facts, struct arena *arena, const char *project)
{
	struct error error = { .arena = arena };
	struct facts there = *facts;
	struct followed followed = { 0 };

	if (probe_path_exists(arena, project))
		followed = file_follow(arena, project);
	if (followed.kind != FILE_DIRECTORY || !str_equal(followed.real, project))
		return NULL;
	there.project = project;
	there.project_problem = NULL;
	there.git = (struct git_facts){ 0 };
	probe_repository(&there.git, arena, project);
	probe_enclosing_repository(&there, arena);
	return plan_refuse_project(&there, &error) ? plan_canonical_root(arena, &there) : NULL;
}

// Adds the conversations in one directory. Each names the project that it belongs to.
static void add_conversations(struct facts *facts, struct arena *arena, int state, const char *path)
{
	struct flat_conversation found = { .project = "" };
	strings names = list_directory(arena, state, path);

	vec_each(name, &names) {
		const char *file = path_join(arena, path, *name);
		struct arena scratch = { 0 };
		const char *text = file_read_at(&scratch, state, file, CONVERSATION_LIMIT);
		const char *project = upgrade_find_project(&scratch, text);

		if (!str_equal(project, found.project)) {
			found.project = arena_strdup(arena, project);
			found.root = find_root(facts, arena, found.project);
			found.on = probe_file_system(arena, found.root ? found.root : "");
		}
		arena_free(&scratch);
		found.path = file;
		if (str_ends(*name, ".jsonl") && strlen(*name) <= CONVERSATION_NAME_LIMIT)
			vec_push(arena, &facts->state.flat.conversations, found);
	}
}

void probe_flat_state(struct facts *facts, struct arena *arena)
{
	static const char *const marks[] = { FLAT_BACKUP,      ".claude.json",  ".credentials.json",
					     "projects",       "history.jsonl", "todos",
					     "shell-snapshots" };
	CLEANUP_FD int state = file_open(AT_FDCWD, facts->state.root, O_RDONLY | O_DIRECTORY);
	strings slugs = list_directory(arena, state, "projects");

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (faccessat(state, marks[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			facts->state.flat.found = true;
	vec_each(slug, &slugs)
		add_conversations(facts, arena, state, path_join(arena, "projects", *slug));
}
