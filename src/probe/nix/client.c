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
#include "probe/user.h"
#include "sys/files.h"

enum { TEXT_MAX = 1024 * 1024 };

void probe_nix_client(struct facts *facts, struct arena *arena)
{
	const char *own = path_join(arena, probe_config_home(arena, facts), "nix");
	const char *cache = probe_cache_home(arena, facts);
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
