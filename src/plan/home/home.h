// SPDX-License-Identifier: MIT
// The home directory of the box: kept for the project, shared by all projects, or empty.
//
// Theory of operation: a kept home is a directory of the state that boxes write, so an earlier box,
// or one that runs meanwhile, can have put anything at any name in it. bwrap creates nothing in it
// and mounts nothing in it by path. plan_add_mount() stages what belongs there, and the launcher
// makes the mount points without following links (src/state/home.c). The functions below add what
// is not a mount; with an empty home they add the same things for bwrap to create.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Plans the home directory and its mount. Everything below it is planned later.
void plan_build_home(struct plan *plan, struct arena *arena, const struct facts *facts);
// Adds a symbolic link at a path below the home. In a kept home it is created only if nothing has
// that name: what a session wrote stays. A link of an earlier launch that has not changed since is
// replaced if its target differs now, and removed if it is no longer planned.
void plan_add_home_link(struct plan *plan, struct arena *arena, const char *path,
			const char *target, const char *why);
// Adds a directory at a path below the home, unless something else has that name or is in the way.
void plan_add_home_directory(struct plan *plan, struct arena *arena, const char *path,
			     const char *why);
// Compares the links with those of earlier launches.
void plan_finish_home(struct plan *plan, struct arena *arena, const struct facts *facts);
// Warns about a shared home, a home above its limit, and a home that earlier sessions wrote if the
// box gets something that they did not have. Needs the comparison with the last approval.
void plan_warn_home(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns the directory of the kept home, NULL: it is empty and in memory.
const char *plan_home_path(struct arena *arena, const struct config *config,
			   const struct facts *facts);
