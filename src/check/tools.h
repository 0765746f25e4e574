// SPDX-License-Identifier: MIT
// --check: the tools that a box is meant to have.
#pragma once

#include "check/finding.h"

check_function check_tools;
