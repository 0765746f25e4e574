// SPDX-License-Identifier: MIT
// Links in directories of the box that lead to something the box lacks: programs of a toolchain or
// of a --path directory that lie elsewhere, and packages of `npm link`.
#include "plan/toolchains/links.h"

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/facts.h"

void plan_report_links(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(group, &facts->toolchains.links) {
		vec_each(link, &group->links) {
			if (plan_provides(plan, link->link) && !plan_provides(plan, link->target))
				plan_leave_out(plan, arena, advice_path(plan, arena, link->link),
					       arena_printf(arena, "it is a link to %s",
							    advice_path(plan, arena, link->target)),
					       advice_mount(plan, arena, facts, link->target));
		}
		if (group->more && plan_provides(plan, group->directory))
			plan_leave_out(plan, arena,
				       arena_printf(arena, "%zu more links in %s", group->more,
						    advice_path(plan, arena, group->directory)),
				       "they may lead to files that are not in the box",
				       "--mount-ro PATH");
	}
}
