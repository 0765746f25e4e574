// SPDX-License-Identifier: MIT
// Lays out sections of items in a number of lines. What does not fit becomes a count.
//
// Theory of operation: each section keeps at least one line. Then each gets the lines of its first
// item, in order, as long as there are enough. The other lines go first to the sections that say
// so, then to the section with the fewest lines that has more to show, so that a long section
// leaves the short ones whole. An item in STYLE_DANGER and one that is kept are always shown in
// full, even if there are more lines then. What is shown in part ends after a word; a section may
// refuse such parts.
#pragma once

#include "base/screen.h"
#include "render/audit/section.h"

#include <stddef.h>

// Adds the sections that have items, in `lines` lines. Items in STYLE_DANGER may take `spare` more
// without an effect on the others.
void audit_fold(struct screen *screen, const audit_sections *sections, size_t lines, size_t spare);
