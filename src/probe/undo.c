// SPDX-License-Identifier: MIT
// What snapshots of the project need: git, and the patterns of files that it ignores.
#include "probe/undo.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "probe/programs.h"
#include "sys/files.h"

enum { PATTERNS_LIMIT = 64 * 1024 };

static void add_file(struct facts *facts, struct arena *arena, const char *path)
{
	const char *text = file_read(arena, path, PATTERNS_LIMIT, 0);

	if (text)
		vec_push(arena, &facts->undo.excludes, text);
}

void probe_undo(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);
	const char *directory = facts->project;

	facts->undo.git = probe_program(arena, facts, "git", NULL);
	if (!git)
		return;
	add_file(facts, arena, path_join(arena, git->common, "info/exclude"));
	// The project is a subdirectory: git reads the files above it too.
	while (path_within(directory, git->top) && !str_equal(directory, git->top)) {
		directory = path_parent(arena, directory);
		add_file(facts, arena, path_join(arena, directory, ".gitignore"));
	}
}
