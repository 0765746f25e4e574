// SPDX-License-Identifier: MIT
// Prepares ~/.claudebox and the instance on disk.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

// Creates ~/.claudebox and the instance as the plan describes them. Returns a descriptor whose lock keeps the instance
// from being removed; -1 with an error.
int instance_prepare(const struct plan *plan, struct error *error);

// Opens ~/.claudebox, and creates it when it is missing; it must belong to the user alone. -1 with an error.
int state_open_root(const char *path, struct error *error);
