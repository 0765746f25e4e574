// SPDX-License-Identifier: MIT
// The layout of ~/.claudebox: its version and its entries.
#pragma once

#include "base/error.h"
#include "plan/facts.h"

#include <stdbool.h>

#define STATE_VERSION_FILE "version"
#define STATE_VERSION_TEXT "1\n"
// Files that name directories outside of a project's root that its boxes write.
#define STATE_PLACES "places"
// The list of Claude files without secrets. See src/plan/claude/searched.c.
#define STATE_SEARCHED "searched"

enum { STATE_VERSION = 1 };

// Returns whether an entry of ~/.claudebox belongs to this layout.
bool layout_has_name(const char *name);
// Refuses a state or an instance record of a later version, and a version file without a number.
bool layout_check_version(const struct state_facts *state, struct error *error);
