// SPDX-License-Identifier: MIT
// Reads the git configuration of the system, of the user and of the repository.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->git.user and the identity for commits, and finds out whether the repository requests
// signatures. Executes nothing.
void probe_git_settings(struct facts *facts, struct arena *arena);
