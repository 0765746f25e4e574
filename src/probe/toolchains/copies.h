// SPDX-License-Identifier: MIT
// Reads the settings of toolchain managers that the box gets as generated copies.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"

// Adds the copies that the row lists, as far as the files exist and belong to the user.
void toolchain_copy_settings(struct toolchain_found *found, struct arena *arena,
			     const struct facts *facts);
