// SPDX-License-Identifier: MIT
// Files that settings of git name and that the box gets as generated copies.
#pragma once

#include "plan/git/facts.h"

struct git_copy_row {
	const char *setting;
	const char *usual; // in $XDG_CONFIG_HOME, if there is no such setting; NULL: none
	const char *path;  // of the copy in the box
	const char *why;
};
extern const struct git_copy_row git_copy_table[GIT_COPY_COUNT];
