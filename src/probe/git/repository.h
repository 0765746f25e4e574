// SPDX-License-Identifier: MIT
// Finds the repository around the project without running git in it, and proves that it is the project's own.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

void probe_repository(struct git_facts *git, struct arena *arena, const char *project);
