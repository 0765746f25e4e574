// SPDX-License-Identifier: MIT
// The lines of an approval record.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// The end of a line with a variable or a mount that is a secret.
#define APPROVAL_SECRET " SECRET"
// The start of a line with a rule of Claude's settings, which takes something away from the box.
#define APPROVAL_DENY "claude deny "

// Returns one line for each setting, variable, package and mount of the box, without values of
// variables. A tab and a digest follow where the content behind a line can change: the definition
// of an MCP server, a command of Claude's settings, the hosts of an address.
strings approval_lines(struct arena *arena, const struct plan *plan);
// Returns a line without its digest.
const char *approval_shown(struct arena *arena, const char *line);
// Returns the digest of a content.
const char *approval_digest(struct arena *arena, const char *content);
// Adds the line of a mount, if it has one.
void approval_add_mount(strings *lines, struct arena *arena, const struct plan_mount *mount);
// Returns whether a list has this line.
bool approval_has_line(const strings *lines, const char *wanted);
