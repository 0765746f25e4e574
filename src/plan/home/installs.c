// SPDX-License-Identifier: MIT
// The settings with which package managers install programs into ~/.local.
//
// pip, pipx and uv use ~/.local without a setting.
#include "plan/home/installs.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/home/home.h"
#include "plan/plan.h"

#include <string.h>

const struct install_row install_table[] = {
	// nvm refuses NPM_CONFIG_PREFIX and a prefix in ~/.npmrc, and accepts this one.
	{ "NPM_CONFIG_GLOBALCONFIG", BOX_NPMRC, "npm installs programs into ~/.local" },
	// ~/.cargo/bin may be the host's, read-only.
	{ "CARGO_INSTALL_ROOT", "~/.local", "cargo installs programs into ~/.local" },
	// The same applies to ~/go/bin.
	{ "GOBIN", "~/.local/bin", "go installs programs into ~/.local" },
};
const size_t install_table_count = ARRAY_SIZE(install_table);

// The content of BOX_NPMRC. npm replaces ${HOME}. In this file the prefix ranks below ~/.npmrc and
// the project's .npmrc.
static const char npm_settings[] = "prefix=${HOME}/.local\n";

const char *plan_install_directory(const struct plan *plan, struct arena *arena)
{
	return path_join(arena, plan->home, ".local/bin");
}

bool plan_has_installs(const struct plan *plan, struct arena *arena)
{
	const char *own = plan_install_directory(plan, arena);
	size_t length = strlen(own);

	for (const char *s = plan_variable(plan, "PATH"); s && *s;) {
		size_t entry = strcspn(s, ":");

		if (entry == length && strncmp(s, own, length) == 0)
			return true;
		s += entry + (s[entry] == ':');
	}
	return false;
}

bool plan_can_install(const struct plan *plan, struct arena *arena)
{
	const char *own = plan_install_directory(plan, arena);

	for (size_t i = 0; i < install_table_count; i++)
		if (!str_equal(plan_variable(plan, install_table[i].variable),
			       path_expand_home(arena, install_table[i].value, plan->home)))
			return false;
	vec_each(mount, &plan->mounts) {
		if (mount->origin.kind == ORIGIN_REQUESTED && path_within(own, mount->path))
			return false;
	}
	return true;
}

void plan_build_installs(struct plan *plan, struct arena *arena)
{
	plan_add_home_directory(plan, arena, plan_install_directory(plan, arena), NULL);
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = npm_settings,
					    .path = BOX_NPMRC,
					    .mode = 0444,
					    .why = "npm installs programs into ~/.local" });
}
