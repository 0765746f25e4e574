// SPDX-License-Identifier: MIT
// Searches the directories that are mounted for sockets and for files with several names.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Completes the sockets, and stores files that the box can change and that have a name elsewhere.
void probe_mounted_files(struct facts *facts, struct arena *arena);
