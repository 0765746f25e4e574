// SPDX-License-Identifier: MIT
// Looks at what the user asked to mount, and where.
#include "host/probe.h"

#include "base/path.h"
#include "base/text.h"

// "~/x", "x" and "/x" as the absolute path they stand for.
static const char *absolute(struct arena *arena, const struct host *host, const char *written)
{
	if (str_equal(written, "~"))
		return host->home;
	written = path_expand_home(arena, written, host->home);
	if (written[0] != '/')
		written = path_join(arena, host->project, written);
	return path_clean(arena, written);
}

void probe_mounts(struct host *host, struct arena *arena, const struct config *config)
{
	vec_each(mount, &config->mounts) {
		struct mount_facts facts = { .written = mount->source,
					     .written_to = mount->destination,
					     .writable = mount->writable,
					     .origin = mount->origin,
					     .place = mount->place };

		facts.source = probe_follow(arena, absolute(arena, host, mount->source));
		facts.destination = probe_follow(
			arena, mount->destination ? absolute(arena, host, mount->destination)
						  : facts.source.path);
		vec_push(arena, &host->mounts, facts);
	}
}
