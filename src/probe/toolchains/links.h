// SPDX-License-Identifier: MIT
// Links in directories of programs and packages that lead elsewhere.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Reads the target of a link, by its text alone: an absolute path. Returns NULL if it is none.
const char *link_target(struct arena *arena, int directory, const char *path, const char *name);
// Records a link in a directory if it leads out of the directory, of all toolchains and of the
// system, to something that exists.
void links_add(struct facts *facts, struct arena *arena, int directory, const char *path,
	       const char *name);
// Records the links in a directory of npm packages, and in those of its scopes (@name).
void links_read_packages(struct facts *facts, struct arena *arena, const char *path);
// Records the links in the directories that the user puts on PATH.
void links_read_requested(struct facts *facts, struct arena *arena);
