// SPDX-License-Identifier: MIT
// --check: the state directory, the project and the profile.
#pragma once

#include "check/finding.h"

check_function check_state;
check_function check_project;
check_function check_profile;
check_function check_other_profiles;
check_function check_toolchains;
