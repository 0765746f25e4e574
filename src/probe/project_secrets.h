// SPDX-License-Identifier: MIT
// Looks for files in the project that look like secrets (SEC-01), by name only and within bounds.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

void probe_project_secrets(struct facts *facts, struct arena *arena);
