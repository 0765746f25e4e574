// SPDX-License-Identifier: MIT
// Decides whether the project may use the repository that encloses it.
//
// Theory of operation: git searches the parent directories for a repository, and the one that it
// finds is mounted with the project. Another user can create a repository in a shared directory,
// such as /tmp. A box can remove the project's own .git, so that the next start would mount the
// enclosing repository. So the enclosing repository must belong to a trusted user, and no directory
// between it and the project, the project included, may have had an instance of its own.
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

static void refuse_repository(struct facts *facts, const char *reason)
{
	facts->git.top = NULL;
	facts->git.refused = reason;
}

// Returns whether a path belongs neither to the owner of the project nor to a trusted user. git has
// the same rule: the owner of a repository decides which programs git runs in it.
static bool is_foreign(const struct facts *facts, const char *path)
{
	struct stat status;
	struct stat project;

	return lstat(path, &status) < 0 || stat(facts->project, &project) < 0 ||
	       (status.st_uid != project.st_uid && !probe_owner_trusted(facts, status.st_uid));
}

// Returns the instance of the project, or of a directory between it and `root`, that exists from an
// earlier start; NULL: there is none.
static const char *find_earlier_instance(const struct facts *facts, struct arena *arena,
					 const char *root)
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
	const char *instance;

	if (!git->top || str_equal(root, facts->project))
		return;
	if (!str_equal(git->top, facts->project) &&
	    (is_foreign(facts, git->top) ||
	     is_foreign(facts, path_join(arena, git->top, ".git")))) {
		refuse_repository(
			facts, arena_printf(arena,
					    "the repository around the project, '%s', belongs to "
					    "another user and is not mounted: git is not available",
					    shown));
		return;
	}
	instance = find_earlier_instance(facts, arena, root);
	if (instance)
		refuse_repository(
			facts, arena_printf(arena,
					    "the project was not part of the repository '%s' at an "
					    "earlier start, so it is not mounted: git is not "
					    "available; to mount it, remove '%s'",
					    shown, path_tilde(arena, instance, facts->home)));
}
