// SPDX-License-Identifier: MIT
// The project, and the parts of its git repository that git needs.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Mounts the project and its repository.
void plan_build_project(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns whether a host path is, lies in, or contains a secret place.
bool plan_near_secret(const struct facts *facts, const char *path);
// Does the same, but the secret place at the path `own` does not count; NULL: each counts.
bool plan_near_other_secret(const struct facts *facts, const char *path, const char *own);
// Returns the repository that the box gets, or NULL.
const struct git_facts *plan_git(const struct facts *facts);
// Returns why the box does not get the repository around the project, or NULL.
const char *plan_git_refusal(const struct facts *facts);
