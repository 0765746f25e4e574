// SPDX-License-Identifier: MIT
// --check: the Nix daemon and the configured packages.
#pragma once

#include "check/finding.h"

check_function check_nix;
check_function check_packages;
