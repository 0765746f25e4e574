// SPDX-License-Identifier: MIT
// The generated git configuration of the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#define BOX_GIT_CONFIG "/etc/gitconfig"

// Returns the part of the configuration that claudebox writes itself: the identity, and trust in
// the project.
const char *plan_git_basics(struct arena *arena, const struct facts *facts);
// Adds the user's settings to the generated file, and names those that stay outside. Needs the PATH
// of the box.
void plan_build_git(struct plan *plan, struct arena *arena, const struct facts *facts);
