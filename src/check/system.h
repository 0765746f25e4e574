// SPDX-License-Identifier: MIT
// --check: Landlock, the directories of PATH, limits, and the terminal.
#pragma once

#include "check/finding.h"

check_function check_landlock;
check_function check_path;
check_function check_limits;
check_function check_terminal;
