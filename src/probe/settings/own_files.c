// SPDX-License-Identifier: MIT
// Decides which files of the user claudebox uses without being asked.
//
// Theory of operation: claudebox reads and mounts some files because they are the user's own, such
// as ~/.gitconfig or ~/.claude/commands. Many users keep these files in a directory that is also a
// project, and link to them. The agent can write that directory. What is in it is known to the
// agent, so the content of a file there may enter other boxes. But the agent can replace the file
// by a link, or name another file in it. So a link that a box can have made is not followed, and
// files that such a file names are not read.
#include "probe/settings/own_files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "plan/secrets/files.h"
#include "plan/system.h"
#include "probe/programs.h"
#include "probe/settings/settings_file.h"

const char *probe_own_place_problem(struct arena *arena, const struct facts *facts,
				    const struct followed *file)
{
	const char *box;

	if (plan_kernel_file(file->path) || plan_kernel_file(file->real))
		return "it is a file of the kernel";
	vec_each(hop, &file->hops) {
		box = probe_path_writer(arena, facts, hop->link);
		if (box)
			return arena_printf(arena, "%s can change the link", box);
		if (plan_kernel_file(hop->link)) // /proc/self/root leads anywhere
			return "it leads through a file of the kernel";
	}
	if (path_within(file->real, facts->state.root))
		return "it leads to the state of claudebox";
	return NULL;
}

const char *probe_own_problem(struct arena *arena, const struct facts *facts,
			      const struct followed *file, int flags)
{
	bool usual = flags & SETTINGS_USUAL_NAME;
	bool own_place = false;
	const char *problem = probe_own_place_problem(arena, facts, file);

	if (problem)
		return problem;
	vec_each(secret, &facts->secrets)
		own_place |= usual && str_equal(secret->path, file->path);
	if ((!own_place && plan_near_secret(facts, file->path)) ||
	    plan_near_other_secret(facts, file->real, file->path))
		return file->hops.count ? "it leads to a secret place"
					: "it lies in a secret place";
	vec_each(hop, &file->hops) {
		if (plan_near_other_secret(facts, hop->link, file->path))
			return "it leads to a secret place";
	}
	if ((!usual && secret_file_path(file->path)) ||
	    (!(usual && str_equal(path_name(file->real), path_name(file->path))) &&
	     secret_file_path(file->real)))
		return "its name is that of a secret";
	return NULL;
}

bool probe_own_box_writes(struct arena *arena, const struct facts *facts,
			  const struct followed *file)
{
	return probe_path_writer(arena, facts, file->real) != NULL;
}

const char *probe_own_file(struct arena *arena, const struct facts *facts,
			   const struct followed *file, size_t limit, int flags,
			   const char **ret_problem)
{
	if (file->kind == FILE_MISSING)
		return NULL;
	*ret_problem = probe_own_problem(arena, facts, file, flags);
	return *ret_problem ? NULL
			    : probe_settings_file(arena, facts, file, limit, flags, ret_problem);
}
