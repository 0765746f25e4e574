// SPDX-License-Identifier: MIT
// What nix in the box goes by: the settings and registries of the host's, but for what may hold a secret.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// The host's settings of Nix and its registries, but for what may hold a secret.
const char *plan_nix_settings(struct arena *arena, const struct facts *facts);
// Whether the box's registry is a made one: where there is only the system's, that is mounted as it is.
bool plan_makes_nix_registry(const struct facts *facts);
const char *plan_nix_registry(struct plan *plan, struct arena *arena, const struct facts *facts);
// The file that the setting flake-registry names, when it lies outside the store.
const char *plan_nix_registry_file(struct arena *arena, const struct facts *facts);
