// SPDX-License-Identifier: MIT
// The snapshots of the plan, which --diff and --undo use.
#include "plan/undo.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/state/instances.h"

#include <string.h>

#define UNDO_LIMIT (2ULL << 30)

// Directories of dependencies: without a repository, nothing says that they need no snapshot.
#define DEPENDENCIES "node_modules/\n__pycache__/\n"

// Adds the patterns of a file that hold in every directory. Others are relative to a directory
// above the project.
static void add_patterns(struct text *out, struct arena *arena, const char *text, bool all)
{
	const char *line;

	while (text && (line = str_next_line(arena, &text))) {
		size_t length = strcspn(line, "/");

		if (all || !line[length] || !line[length + 1])
			text_printf(out, "%s\n", line);
	}
}

struct plan_undo plan_undo_of(struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);
	bool top = git && str_equal(git->top, facts->project);
	struct text exclude = { .arena = arena };

	if (!git)
		text_add(&exclude, DEPENDENCIES);
	add_patterns(&exclude, arena, facts->git.user.copies[GIT_COPY_IGNORE].text, true);
	vec_each(text, &facts->undo.excludes)
		add_patterns(&exclude, arena, *text, top);
	return (struct plan_undo){
		.git = facts->undo.git,
		.path = arena_printf(arena, "%s/" INSTANCE_SNAPSHOTS "/%s",
				     plan_instance_path(arena, facts),
				     instance_id(arena, facts->project)),
		.git_directory = git ? git->directory : NULL,
		.prefix =
			git && !top && path_within(facts->project, git->top)
				? arena_printf(arena, "%s/", facts->project + strlen(git->top) + 1)
				: "",
		.exclude = text_get(&exclude),
	};
}

void plan_build_undo(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan->config->project == PROJECT_READ_ONLY || plan->config->action == ACTION_PROVE)
		return;
	// Without a snapshot too: that the session was not saved is noted there.
	plan->undo.path = plan_undo_of(arena, facts).path;
	if (plan->config->undo == UNDO_OFF)
		return;
	if (!facts->undo.git) {
		plan_warn_outside(plan, arena,
				  "what this session changes cannot be undone: claudebox found no "
				  "git that it can trust");
		return;
	}
	plan->undo = plan_undo_of(arena, facts);
	plan->undo.active = true;
	plan->undo.ignored = plan->config->undo_ignored;
	plan->undo.limit = plan->config->limits[LIMIT_SNAPSHOTS].value;
	if (!plan->undo.limit)
		plan->undo.limit = UNDO_LIMIT;
}
