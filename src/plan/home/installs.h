// SPDX-License-Identifier: MIT
// Where package managers of programming languages install programs: ~/.local, with ~/.local/bin on
// PATH.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

// npm's global settings in the box.
#define BOX_NPMRC BOX_RUN "/npmrc"

struct install_row {
	const char *variable;
	const char *value; // "~/": in the home
	const char *why;
};
extern const struct install_row install_table[];
extern const size_t install_table_count;

// Adds ~/.local/bin and the settings of npm.
void plan_build_installs(struct plan *plan, struct arena *arena);
// Returns the directory for PATH. It comes after the directories of packages and toolchains, which
// the user chose, and before those of the system, so that an installed version is the one in use.
const char *plan_install_directory(const struct plan *plan, struct arena *arena);
// Returns whether it is on PATH: in a box whose programs are in the Nix store, only if the host's
// PATH has it.
bool plan_has_installs(const struct plan *plan, struct arena *arena);
// Returns whether these settings are in effect: neither a variable nor a mount of the user replaces
// them.
bool plan_can_install(const struct plan *plan, struct arena *arena);
