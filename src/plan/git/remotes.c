// SPDX-License-Identifier: MIT
// Repositories on this machine that remotes and submodules of the repository name.
//
// Theory of operation: git cannot fetch from, or push to, a path that the box does not have. The
// configuration is that of the repository, which decides nothing: its paths are compared as texts
// and listed, and neither looked at nor offered (src/plan/claude/named_paths.c).
#include "plan/git/remotes.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/git/facts.h"
#include "plan/guard/address.h"
#include "plan/guard/keys.h"
#include "plan/mounts.h"
#include "plan/plan.h"
#include "plan/project.h"

#include <string.h>

enum { LISTED = 5, NAME_COLUMNS = 40, PATH_COLUMNS = 120 };

bool git_setting_is_address(const char *name)
{
	const char *last = strrchr(name, '.');
	bool remote = str_starts(name, "remote.");

	if (!last || last == strchr(name, '.') || !(remote || str_starts(name, "submodule.")))
		return false;
	return str_equal(last, ".url") || (remote && str_equal(last, ".pushurl"));
}

// Returns "remote 'x'" or "submodule 'x'" for the name of its address.
static const char *owner_of(struct arena *arena, const char *name)
{
	const char *first = strchr(name, '.');
	const char *own = arena_strndup(arena, first + 1, (size_t)(strrchr(name, '.') - first) - 1);

	return arena_printf(arena, "%.*s '%s'", (int)(first - name), name,
			    quote_display(arena, own, NAME_COLUMNS));
}

void plan_leave_out_remotes(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);
	struct git_key_place place = { 0 };
	strings paths = { 0 };
	size_t listed = 0;

	if (!git)
		return;
	// Relative paths belong to the top of the worktree.
	place.directory = path_join(arena, git->top, ".git");
	vec_each(setting, &git->addresses) {
		const char *path = git_address_path(arena, setting->value, &place);
		bool known = false;

		vec_each(other, &paths)
			known |= str_equal(*other, path);
		if (!path || known || plan_provides(plan, path))
			continue;
		vec_push(arena, &paths, path);
		if (listed++ < LISTED)
			plan_leave_out(plan, arena,
				       quote_word(arena, path_tilde(arena, path, plan->home),
						  PATH_COLUMNS),
				       arena_printf(arena, "git's %s is there",
						    owner_of(arena, setting->name)),
				       NULL);
	}
	if (listed > LISTED)
		plan_leave_out(plan, arena, arena_printf(arena, "%zu more paths", listed - LISTED),
			       "remotes and submodules of git are there", NULL);
}
