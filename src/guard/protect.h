// SPDX-License-Identifier: MIT
// Mounts that protect places of the project in a box.
#pragma once

#include "plan/guard/facts.h"

#include <stdbool.h>
#include <sys/types.h>

// Mounts over a place, in the mount namespace of the box: itself, itself read-only, or the link
// `copy` to a copy that the box may write. `fd_directory` is /proc/self/fd of the host.
// *ret_changed: the place is not the file that was probed. Allocates nothing.
bool protect_place(const struct guard_place *place, const char *copy, int fd_directory,
		   bool *ret_changed);
// Does the same from outside, in the namespaces of process `init`, for a place that exists now. A
// place that is still protected is left as it is; *ret_mounted: it was not. Returns false with
// errno on failure.
bool protect_again(pid_t init, const struct guard_place *place, const char *copy,
		   bool *ret_mounted);
