// SPDX-License-Identifier: MIT
// Finds out who commits, and whether the repository wants signatures.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <sys/types.h>

struct git_identity {
	pid_t pid; // -1: git is not needed
	int output;
};

// XDG_CONFIG_HOME; NULL: the usual one. What a box can write says nothing about the user.
const char *probe_configuration_home(struct arena *arena, const struct facts *facts);
struct git_identity probe_identity_start(struct git_facts *git, struct arena *arena,
					 const struct facts *facts);
void probe_identity_finish(struct git_identity *identity, struct git_facts *git,
			   struct arena *arena, const char *user);
