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
#include "probe/settings/own_files.h"
#include "probe/settings/settings_file.h"
#include "probe/user.h"
#include "sys/files.h"

enum { TEXT_MAX = 1024 * 1024 };

static const char *read_own(struct arena *arena, const struct facts *facts, const char *path)
{
	struct followed file = file_follow(arena, path);
	const char *problem = NULL;

	return probe_own_file(arena, facts, &file, TEXT_MAX, SETTINGS_LINKED, &problem);
}

void probe_nix_client(struct facts *facts, struct arena *arena)
{
	const char *own = path_join(arena, probe_config_home(arena, facts), "nix");
	const char *cache = probe_cache_home(arena, facts);
	struct nix_facts *nix = &facts->nix;
	struct followed settings;
	const char *system;
	const char *file;

	settings = file_follow(arena, path_join(arena, own, "nix.conf"));
	system = plan_nix_registry_file(arena, facts);
	nix->user_settings = read_own(arena, facts, settings.path);
	nix->user_registry = read_own(arena, facts, path_join(arena, own, "registry.json"));
	nix->system_registry = file_read(arena, NIX_REGISTRY, TEXT_MAX, READ_FOLLOW);
	// Settings that a box can write name no other file.
	file = probe_own_box_writes(arena, facts, &settings) ? system
							     : plan_nix_registry_file(arena, facts);
	if (file && !str_equal(file, NIX_REGISTRY))
		nix->global_registry = file_read(arena, file, TEXT_MAX, READ_FOLLOW);
	nix->index = file_follow(arena, path_join(arena, cache, "nix-index"));
	if (probe_own_place_problem(arena, facts, &nix->index))
		nix->index = (struct followed){ 0 };
}
