// SPDX-License-Identifier: MIT
// Collects facts about the mounts that the user requested.
#include "probe/mounts/mounts.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "sys/files.h"

// Returns the absolute form of a path that the user wrote: "~/x" is in the home directory, "x" in
// the project.
static const char *absolute_path(struct arena *arena, const struct facts *facts,
				 const char *written)
{
	if (str_equal(written, "~"))
		return facts->home;
	written = path_expand_home(arena, written, facts->home);
	if (written[0] != '/')
		written = path_join(arena, facts->project, written);
	return path_clean(arena, written);
}

void probe_mounts(struct facts *facts, struct arena *arena, const struct config *config)
{
	vec_each(mount, &config->mounts) {
		struct mount_facts found = { .written = mount->source,
					     .written_to = mount->destination,
					     .writable = mount->writable,
					     .on_path = mount->on_path,
					     .origin = mount->origin };

		found.source = file_follow(arena, absolute_path(arena, facts, mount->source));
		found.destination = file_follow(
			arena, mount->destination ? absolute_path(arena, facts, mount->destination)
						  : found.source.path);
		vec_push(arena, &facts->mounts, found);
	}
}
