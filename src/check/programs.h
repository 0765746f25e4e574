// SPDX-License-Identifier: MIT
// --check: bwrap, claude, the shell and git.
#pragma once

#include "base/arena.h"
#include "check/finding.h"
#include "plan/facts.h"
#include "render/check.h"

check_function check_bwrap;
check_function check_claude;
check_function check_shell;
check_function check_git;

// Checks that a program is on PATH and that its option --version works.
struct finding check_program(struct arena *arena, const struct facts *facts, const char *name,
			     const char *fix);
