// SPDX-License-Identifier: MIT
// Nix's settings and flake registry in the box: those of the host without secrets.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Returns the text of the box's nix.conf.
const char *plan_nix_settings(struct arena *arena, const struct facts *facts);
// Returns whether the box's registry is generated. If the host has the system's registry only, that
// file is mounted instead.
bool plan_generates_nix_registry(const struct facts *facts);
// Returns the JSON of the generated registry. Warns about entries that are left out or that cannot
// work in the box.
const char *plan_nix_registry(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns the file that the setting flake-registry names, if it is outside the store; NULL
// otherwise.
const char *plan_nix_registry_file(struct arena *arena, const struct facts *facts);
