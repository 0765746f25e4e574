// SPDX-License-Identifier: MIT
// Judges a setting of git by its text, and by where its path leads.
#pragma once

#include "base/arena.h"
#include "plan/guard/keys.h"

// Returns why a setting is not harmless, NULL: it is. Follows the links of a path that it names:
// they may not lead out of the project, nor to a repository that the guard does not judge.
const char *git_setting_refusal(struct arena *arena, const char *name, const char *value,
				const struct git_key_place *place);
