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
// The kept home, in an instance or (shared) in ~/.claudebox. Beside it, out of the reach of boxes:
// NAME.links, the record of links that launches created in it; NAME.size, its size at the end of
// the last session, if a profile limits it; NAME.lock, of a shared one.
#define STATE_HOME "home"
// Prefix of the name of a home that the user replaced by an empty one; a number follows.
#define STATE_HOME_KEPT "home.kept-"
// The list of Claude files without secrets. See src/plan/claude/searched.c.
#define STATE_SEARCHED "searched"

enum { STATE_VERSION = 1 };
// The longest file of a box's Claude directory that is read. The probe and the launch use the same
// limit: otherwise a file that only one of them reads looks like one that another box has changed,
// and is never written again.
enum { BOX_FILE_LIMIT = 64 * 1024 * 1024 };

// Returns whether an entry of ~/.claudebox belongs to this layout.
bool layout_has_name(const char *name);
// Refuses a state or an instance record of a later version, and a version file without a number.
bool layout_check_version(const struct state_facts *state, struct error *error);
