// SPDX-License-Identifier: MIT
// --check: whether sessions can be taken back.
#pragma once

#include "check/finding.h"

check_function check_undo;
