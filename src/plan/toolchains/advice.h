// SPDX-License-Identifier: MIT
// Rows about what the host has and the box lacks, and the options that bring it.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/toolchains/facts.h"

#include <stdbool.h>

// Returns a path for people, quoted as the shell needs it.
const char *advice_path(const struct plan *plan, struct arena *arena, const char *path);
// Returns whether the user requests a mount that provides this path.
bool advice_requested(const struct facts *facts, const char *path);
// Returns whether a row names this option already.
bool advice_given(const struct plan *plan, const char *option);
// Returns the options that mount these paths; NULL: one of them cannot be mounted, or there are
// none.
const char *advice_mounts(const struct plan *plan, struct arena *arena, const struct facts *facts,
			  const strings *paths);
// Returns the option that mounts one path; NULL: it cannot be mounted.
const char *advice_mount(const struct plan *plan, struct arena *arena, const struct facts *facts,
			 const char *path);
// Returns the option that brings an installation; NULL: there is none. `directory`: what to put on
// PATH if the installation is not known; NULL: nothing.
const char *advice_install(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const struct install *install, const char *directory);
