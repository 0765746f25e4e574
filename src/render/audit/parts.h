// SPDX-License-Identifier: MIT
// Parts of the audit that its forms share, and the sections of the full list that are not about
// variables, mounts and packages.
#pragma once

#include "base/screen.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

extern const char *const origin_marks[ORIGIN_KIND_COUNT];
extern const enum style origin_styles[ORIGIN_KIND_COUNT];
// What the agent can do with a class of "terminal_allow", and with "terminal": "direct".
extern const char *const audit_terminal_effects[TERMINAL_CLASS_COUNT];
extern const char audit_terminal_direct[];

// Returns a value, of which the end may be missing.
const char *audit_value(struct screen *screen, const char *value);
const char *audit_path(struct screen *screen, const char *path);
// Returns the project, and the profile with the pattern that chose it.
const char *audit_project(struct screen *screen, const struct plan *plan);
// Returns where a mount is in the box, and where it comes from if that is another path.
const char *audit_mount(struct screen *screen, const struct plan_mount *mount);

// Returns a change since the last approval, with ~ for the home.
const char *audit_change(struct screen *screen, const char *change);

// Adds the title of a section, with a blank line before it unless it is the first.
void audit_add_title(struct screen *screen, enum style style, const char *title);
// Adds the mark of an origin at the start of a line.
void audit_add_mark(struct screen *screen, enum origin_kind kind);
// Returns the columns for names in front of values: those of the longest name, but no more than a
// third of the line.
size_t audit_name_columns(const struct screen *screen, const strings *names);
// Adds a name in so many columns. A longer one gets a line of its own.
void audit_add_name(struct screen *screen, const char *name, size_t columns);

void audit_add_network(struct screen *screen, const struct plan *plan);
void audit_add_terminal(struct screen *screen, const struct plan *plan);
void audit_add_settings(struct screen *screen, const struct plan *plan);
void audit_add_limits(struct screen *screen, const struct plan *plan);
void audit_add_upgrade(struct screen *screen, const struct plan *plan);
void audit_add_changes(struct screen *screen, const struct plan *plan);
// Adds the warnings: all, or those in red and those that are new since the last approval.
void audit_add_warnings(struct screen *screen, const struct plan *plan, bool all);
void audit_add_notes(struct screen *screen, const struct plan *plan);
