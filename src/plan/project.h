// SPDX-License-Identifier: MIT
// The project, and as much of its git repository as git needs.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

void plan_build_project(struct plan *plan, struct arena *arena, const struct facts *facts);
// Helpers that the parts share.
// Is this host path a secret place, in one, or around one?
bool plan_near_secret(const struct facts *facts, const char *path);
// The repository that the box gets, or NULL; and why one that is there is not used.
const struct git_facts *plan_git(const struct facts *facts);
const char *plan_git_refusal(const struct facts *facts);
