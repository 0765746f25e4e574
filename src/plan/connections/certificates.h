// SPDX-License-Identifier: MIT
// The files with CA certificates that variables of the user and settings of package managers name.
#pragma once

#include "base/arena.h"
#include "plan/connections/connections.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns why a file with this text is no file of certificates alone, NULL: it is.
const char *certificate_problem(struct arena *arena, const char *text);
// Mounts the files of the host, read-only at their own paths.
void plan_mount_certificates(struct plan *plan, struct arena *arena, const struct facts *facts);
// Adds the variables that name a file of the box.
void connections_add_certificates(struct connections *all);
