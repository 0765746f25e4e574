// SPDX-License-Identifier: MIT
// --check: host names, pasta, nft, and a test box in the tier inet.
#pragma once

#include "check/finding.h"

check_function check_names;
check_function check_pasta;
check_function check_nft;
check_function check_inet;
