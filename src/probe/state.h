// SPDX-License-Identifier: MIT
// Facts about the state directory ~/.claudebox and the instance of the project in it.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills the facts about the directory ~/.claudebox itself: kind, owner, mode and version.
void probe_state_root(struct facts *facts, struct arena *arena);
// Reads the record of the project's instance. Needs probe_state_root and the facts about the
// project.
void probe_instance_record(struct facts *facts, struct arena *arena);
// Looks for the kept home of this configuration, and reads the record of links in it.
void probe_home(struct facts *facts, struct arena *arena, const struct config *config);
// Reads the other files of the project's instance and identifies the file system of the project.
void probe_instance(struct facts *facts, struct arena *arena);
