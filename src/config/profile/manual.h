// SPDX-License-Identifier: MIT
// claudebox-profile(5), generated from the schema.
#pragma once

#include "base/arena.h"

// Returns the manual page in scdoc format.
const char *profile_render_manual(struct arena *arena);
