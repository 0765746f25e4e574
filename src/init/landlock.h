// SPDX-License-Identifier: MIT
// Applies Landlock restrictions to init and to every process of the box.
#pragma once

#include <stdbool.h>

// Refuses abstract sockets of, and signals to, processes outside; with `sockets`, also sockets by
// path. Returns -errno on failure.
long apply_landlock(bool sockets);
