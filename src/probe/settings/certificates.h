// SPDX-License-Identifier: MIT
// Examines the files with CA certificates that variables and settings of package managers name.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

void probe_certificates(struct facts *facts, struct arena *arena);
