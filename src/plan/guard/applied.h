// SPDX-License-Identifier: MIT
// Which applied settings of a git configuration the user is told about.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns whether a setting changes what commands of the user do: not what git notes about one
// branch, remote or submodule.
bool git_setting_is_told(const char *name);
