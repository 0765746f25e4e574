// SPDX-License-Identifier: MIT
// Finds the name and e-mail for commits, and whether the repository requests signatures.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <sys/types.h>

// A running `git config`.
struct git_query {
	pid_t pid;  // -1: git is not needed, or could not be started
	int output; // reads its standard output; -1: none
};

// Reads the identity from git's configuration files. Starts `git config` when one of them cannot be
// parsed; probe_identity_finish reads its output.
struct git_query probe_identity_start(struct git_facts *git, struct arena *arena,
				      const struct facts *facts);
// Reads the output of git, ends it, and fills in defaults for a missing name or e-mail.
void probe_identity_finish(struct git_query *query, struct git_facts *git, struct arena *arena,
			   const char *user);
