// SPDX-License-Identifier: MIT
// Whether the repository around a project is one that it may be a part of.
//
// Theory of operation: git looks upwards for a repository, and what it finds there is mounted with the project. Another user
// can put one into a directory that both can write, and a box can take its own away, so that the one around it would
// come in its place. Neither is believed.
#include "probe/git/enclosing.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "probe/programs.h"

#include <sys/stat.h>
#include <unistd.h>

static void refuse(struct facts *facts, const char *why)
{
	facts->git.top = NULL;
	facts->git.refused = why;
}

// As git has it: the owner of a repository decides what git runs there.
static bool is_foreign(const struct facts *facts, const char *path)
{
	struct stat status;
	struct stat project;

	return lstat(path, &status) < 0 || stat(facts->project, &project) < 0 ||
	       (status.st_uid != project.st_uid && !probe_owner_trusted(facts, status.st_uid));
}

// The state of a directory on the way up that was once the root; NULL: there is none.
static const char *earlier_state(const struct facts *facts, struct arena *arena, const char *root)
{
	for (const char *place = facts->project;
	     path_within(place, root) && !str_equal(place, root);
	     place = path_parent(arena, place)) {
		const char *instance = plan_instance_of(arena, facts, place);

		if (access(path_join(arena, instance, "instance.json"), F_OK) == 0)
			return instance;
	}
	return NULL;
}

void probe_enclosing_repository(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = &facts->git;
	const char *root = plan_canonical_root(arena, facts);
	const char *shown = quote_word(arena, path_tilde(arena, root, facts->home), 120);
	const char *state;

	if (!git->top || str_equal(root, facts->project))
		return;
	if (!str_equal(git->top, facts->project) &&
	    (is_foreign(facts, git->top) ||
	     is_foreign(facts, path_join(arena, git->top, ".git")))) {
		refuse(facts, arena_printf(arena,
					   "the repository around the project, '%s', belongs to "
					   "someone else, and is not mounted: git is not available",
					   shown));
		return;
	}
	state = earlier_state(facts, arena, root);
	if (state)
		refuse(facts,
		       arena_printf(arena,
				    "the repository '%s' was not the project's at an earlier "
				    "start, and is not mounted: git is not available; to "
				    "have it, remove '%s'",
				    shown, path_tilde(arena, state, facts->home)));
}
