// SPDX-License-Identifier: MIT
// Collects facts about the mounts that the user requested.
#include "probe/mounts/mounts.h"

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "probe/programs.h"
#include "sys/files.h"

void probe_mounts(struct facts *facts, struct arena *arena, const struct config *config)
{
	vec_each(mount, &config->mounts) {
		struct mount_facts found = { .written = mount->source,
					     .written_to = mount->destination,
					     .writable = mount->writable,
					     .on_path = mount->on_path,
					     .origin = mount->origin };

		found.source = file_follow(arena, plan_written_path(arena, facts, mount->source));
		found.planted = probe_planted_link(arena, facts, &found.source);
		found.destination = file_follow(
			arena, mount->destination
				       ? plan_written_path(arena, facts, mount->destination)
				       : found.source.path);
		vec_push(arena, &facts->mounts, found);
	}
}
