// SPDX-License-Identifier: MIT
// Where the box has the program `git` of claudebox, and the script that it executes.
#pragma once

#define GIT_WRAPPER_DIRECTORY "/run/claudebox/git/bin"
// The script is complete: it does what the program does, and is slower.
#define GIT_WRAPPER_SCRIPT "/run/claudebox/git/check"
