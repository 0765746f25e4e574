// SPDX-License-Identifier: MIT
// Resource limits (setrlimit) of the box.
#pragma once

// Lowers the limits of the calling process and its children. Returns 0, or -errno on failure.
long lower_limits(void);
