// SPDX-License-Identifier: MIT
// claudebox-profile(5), made from the schema.
#pragma once

#include "base/arena.h"

// claudebox-profile(5), as scdoc reads it.
const char *profile_render_manual(struct arena *arena);
