// SPDX-License-Identifier: MIT
// Which mounts of the plan are the user's own files of the host.
#include "plan/own_files.h"

#include "base/path.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/plan.h"

#include <stdbool.h>

static bool is_own_file(const struct plan *plan, const struct plan_mount *mount)
{
	const char *why = plan_mount_reason(mount);

	if (!why || mount->toolchain)
		return false;
	// Claude files with secrets among them are mounted one by one, and some are generated.
	if (mount->copy_of || path_within(mount->path, BOX_USER_CLAUDE))
		return true;
	return mount->kind == MOUNT_READ_ONLY && !str_equal(why, PLAN_WHY_CLAUDE) &&
	       path_within(mount->source, plan->home) &&
	       !path_within(mount->source, plan->state.root) &&
	       !path_within(mount->source, plan->project);
}

void plan_mark_own_files(struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (mount->origin.kind == ORIGIN_GENERATED && is_own_file(plan, mount))
			mount->origin.kind = ORIGIN_ALLOWED;
	}
}
