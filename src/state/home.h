// SPDX-License-Identifier: MIT
// Prepares the kept home of a box.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

// Creates the kept home, the mount points in it and the links. *ret_lock is the lock of a shared
// home, which lasts as long as the descriptor is open; -1: none. Returns false with an error.
bool home_prepare(const struct plan *plan, int *ret_lock, struct error *error);
