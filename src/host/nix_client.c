// SPDX-License-Identifier: MIT
// Reads what the user's own nix goes by: settings, registries, and the index that finds commands in packages.
#include "host/probe.h"

#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/tables.h"

enum { TEXT_LIMIT = 1024 * 1024 };

// A directory of the XDG kind, unless a box writes there.
static const char *user_directory(struct arena *arena, const struct host *host,
				  const char *variable, const char *usual)
{
	const char *chosen = host_variable(host, variable);

	if (chosen && chosen[0] == '/') {
		struct followed place = probe_follow(arena, chosen);

		if (!probe_box_writes(host, &place))
			return chosen;
	}
	return path_join(arena, host->home, usual);
}

const char *probe_nix_configuration(struct arena *arena, const struct host *host)
{
	return user_directory(arena, host, "XDG_CONFIG_HOME", ".config");
}

void probe_nix_client(struct host *host, struct arena *arena)
{
	const char *own = path_join(arena, probe_nix_configuration(arena, host), "nix");
	const char *cache = user_directory(arena, host, "XDG_CACHE_HOME", ".cache");
	struct nix_facts *nix = &host->nix;
	const char *file;

	nix->user_settings =
		probe_read(arena, path_join(arena, own, "nix.conf"), TEXT_LIMIT, READ_FOLLOW);
	nix->user_registry =
		probe_read(arena, path_join(arena, own, "registry.json"), TEXT_LIMIT, READ_FOLLOW);
	nix->system_registry = probe_read(arena, NIX_REGISTRY, TEXT_LIMIT, READ_FOLLOW);
	file = plan_nix_registry_file(arena, host);
	if (file && !str_equal(file, NIX_REGISTRY))
		nix->global_registry = probe_read(arena, file, TEXT_LIMIT, READ_FOLLOW);
	nix->index = probe_follow(arena, path_join(arena, cache, "nix-index"));
}
