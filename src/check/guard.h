// SPDX-License-Identifier: MIT
// --check: what the kernel gives to the guard of the project.
#pragma once

#include "check/finding.h"

check_function check_guard;
