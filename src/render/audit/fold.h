// SPDX-License-Identifier: MIT
// Lays out sections of items in a number of lines. What does not fit becomes a count.
//
// Theory of operation: each section keeps at least one line. Then each gets the lines of its first
// item, in order, as long as there are enough. The other lines go to the section with the fewest
// lines that has more to show, so that a long section leaves the short ones whole. An
// item in STYLE_DANGER and one that is kept are always shown in full, even if there are more lines
// then. What is shown in part ends after a word.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "config/origin.h"

#include <stdbool.h>
#include <stddef.h>

// The key that shows what is folded.
#define AUDIT_DETAILS 'd'

struct audit_item {
	const char *mark; // "[+]"; NULL: none
	enum style mark_style;
	enum style style;
	bool kept;        // it is never folded, like one in STYLE_DANGER
	const char *text; // escaped
};

struct audit_section {
	const char *label;
	enum style label_style;
	bool list; // each item starts a line; otherwise they follow each other, separated by commas
	bool prose; // items are sentences that follow each other, and no other one is shown in part
	VEC(struct audit_item) items;
};
typedef VEC(struct audit_section) audit_sections;

// Add an item to a section, the second one with the mark of its origin.
void audit_add_item(struct arena *arena, struct audit_section *section, enum style style,
		    const char *text);
void audit_add_marked(struct arena *arena, struct audit_section *section, enum origin_kind kind,
		      enum style style, const char *text);
// Marks the last item as one that is never folded.
void audit_keep_last(struct audit_section *section);
// Adds the sections that have items, in `lines` lines. Items in STYLE_DANGER may take `spare` more
// without an effect on the others.
void audit_fold(struct screen *screen, const audit_sections *sections, size_t lines, size_t spare);
