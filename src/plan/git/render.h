// SPDX-License-Identifier: MIT
// Writes settings in the syntax of git configuration files.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/facts.h"

// Returns a value, in quotation marks if it needs them: git reads exactly the same text.
const char *git_render_value(struct arena *arena, const char *value);
// Adds a line with a key and its value; NULL: a key alone.
void git_render_entry(struct text *out, const char *key, const char *value);
// Adds settings in their order, with the headers of their sections. No name may contain a newline,
// and each has a section.
void git_render_settings(struct text *out, const git_settings *settings);
