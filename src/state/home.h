// SPDX-License-Identifier: MIT
// Prepares the kept home of a box.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

// Renames the home in a directory to a free name (STATE_HOME_KEPT), so that the next one is empty.
// *ret_name is the name, NULL: there was no home. Returns false with an error.
bool home_set_aside(int directory, const char **ret_name, struct error *error);
// Records the size of the kept home for the next start, if a profile limits it.
void home_measure(const struct plan *plan, struct arena *arena);
// Creates the kept home, the mount points in it and the links. *ret_lock is the lock of a shared
// home, which lasts as long as the descriptor is open; -1: none. Returns false with an error.
bool home_prepare(const struct plan *plan, int *ret_lock, struct error *error);
