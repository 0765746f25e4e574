// SPDX-License-Identifier: MIT
// Prepares ~/.claudebox and the instance on disk.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

// Creates ~/.claudebox and the instance as planned. Returns a descriptor that holds the lock of the
// instance, so that --gc does not remove it; the caller closes it. Returns -1 with an error.
int instance_prepare(const struct plan *plan, struct error *error);

// Opens ~/.claudebox, and creates it when it is missing. Refuses a directory that other users own
// or can access. Returns a descriptor that the caller closes, or -1 with an error.
int state_open_root(const char *path, struct error *error);
