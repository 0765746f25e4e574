// SPDX-License-Identifier: MIT
// Examines the user's Claude files and the company's policy for secrets.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"

// Examines the entries of the user's Claude directory.
void probe_claude_files(struct facts *facts, struct arena *arena);
// Examines the files of the company's policy.
void probe_policy_files(struct facts *facts, struct arena *arena);
