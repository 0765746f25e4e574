// SPDX-License-Identifier: MIT
// What of Claude's settings stays if a box can have written them. The user's own file can be a link
// into a project, whose box writes it. Its preferences are content. But a command, an address, a
// directory or a server there would act in the boxes of other projects.
#pragma once

#include "base/arena.h"

// Returns settings without the members that act, and adds the names of those that were removed.
// Returns the text itself if there are none, or if it is no JSON object.
const char *box_written_settings(struct arena *arena, const char *text, strings *removed);
// Does the same for a reduced account file (plan/mcp/account.h).
const char *box_written_account(struct arena *arena, const char *text, strings *removed);
