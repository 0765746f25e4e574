// SPDX-License-Identifier: MIT
// Places that the user excepts from the protection.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Returns the absolute path of an exception. That of a name in every directory begins with the
// project and "**": PROJECT/**/.envrc.
const char *unprotect_path(struct arena *arena, const struct facts *facts, const char *written);
// Returns false with an error if an exception is no protected place of the project.
bool unprotect_check(const struct facts *facts, const struct config_unprotect *request,
		     struct error *error);
// Returns whether one of these exceptions covers a path.
bool unprotect_covers(const strings *exceptions, const char *project, const char *path);
// Returns " in every directory" if an exception stands for a name, else "".
const char *unprotect_scope(const char *exception, const char *project);
