// SPDX-License-Identifier: MIT
// Reads the files of the user's nix: settings, registries, and the index of nix-index.
#include "probe/nix/client.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/nix/registry.h"
#include "plan/tables.h"
#include "probe/programs.h"
#include "sys/files.h"

enum { TEXT_MAX = 1024 * 1024 };

// Returns the directory that an XDG variable names, or the default below $HOME if the variable is
// not set or a box can write to the directory.
static const char *user_directory(struct arena *arena, const struct facts *facts,
				  const char *variable, const char *fallback)
{
	const char *chosen = facts_variable(facts, variable);

	if (chosen && chosen[0] == '/') {
		struct followed place = file_follow(arena, chosen);

		if (!probe_box_writes(facts, &place))
			return chosen;
	}
	return path_join(arena, facts->home, fallback);
}

const char *probe_nix_configuration(struct arena *arena, const struct facts *facts)
{
	return user_directory(arena, facts, "XDG_CONFIG_HOME", ".config");
}

void probe_nix_client(struct facts *facts, struct arena *arena)
{
	const char *own = path_join(arena, probe_nix_configuration(arena, facts), "nix");
	const char *cache = user_directory(arena, facts, "XDG_CACHE_HOME", ".cache");
	struct nix_facts *nix = &facts->nix;
	const char *file;

	nix->user_settings =
		file_read(arena, path_join(arena, own, "nix.conf"), TEXT_MAX, READ_FOLLOW);
	nix->user_registry =
		file_read(arena, path_join(arena, own, "registry.json"), TEXT_MAX, READ_FOLLOW);
	nix->system_registry = file_read(arena, NIX_REGISTRY, TEXT_MAX, READ_FOLLOW);
	file = plan_nix_registry_file(arena, facts);
	if (file && !str_equal(file, NIX_REGISTRY))
		nix->global_registry = file_read(arena, file, TEXT_MAX, READ_FOLLOW);
	nix->index = file_follow(arena, path_join(arena, cache, "nix-index"));
}
