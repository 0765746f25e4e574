// SPDX-License-Identifier: MIT
// Nix in a box that does not get the daemon: its commands say why.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Holds programs with the names of Nix's, which run them and then report the missing daemon.
#define BOX_NIX BOX_RUN "/nix"

// Adds the files that explain the missing daemon, if the box lacks it. A box whose programs are in
// the store keeps a PATH of store paths, so it gets the settings alone.
void plan_explain_missing_daemon(struct plan *plan, struct arena *arena, bool store_only);
