// SPDX-License-Identifier: MIT
// A section of the short audit: a label, and items of which a part may be shown.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "config/origin.h"

#include <stdbool.h>
#include <stddef.h>

// How items that are not shown are counted.
struct audit_noun {
	const char *one;
	const char *many;
};

struct audit_item {
	const char *mark; // "[+]"; NULL: none
	enum style mark_style;
	enum style style;
	bool kept;                     // it is never folded, like one in STYLE_DANGER
	const char *text;              // escaped
	const struct audit_noun *noun; // NULL: it is counted as another
};

struct audit_section {
	const char *label;
	enum style label_style;
	bool list; // each item starts a line; otherwise they follow each other, separated by commas
	bool prose; // items are sentences that follow each other, and no other one is shown in part
	bool whole; // no item is shown in part
	size_t first_lines;  // lines that it gets before other sections get more than they need
	const char *details; // what shows the rest: an answer to the question, or an option
	VEC(struct audit_item) items;
};
typedef VEC(struct audit_section) audit_sections;

// Part of a section: all kept items, the first `shown` others, and `words` words of the next one.
struct audit_part {
	size_t shown;
	size_t words; // 0: nothing of the next one
	bool nouns;   // the others are counted by their nouns
};

// Add an item to a section, the second one with the mark of its origin.
void audit_add_item(struct arena *arena, struct audit_section *section, enum style style,
		    const char *text);
void audit_add_marked(struct arena *arena, struct audit_section *section, enum origin_kind kind,
		      enum style style, const char *text);
// Marks the last item as one that is never folded.
void audit_keep_last(struct audit_section *section);

// Return whether an item is red, and the number of items that may be folded.
bool audit_is_red(const struct audit_item *item);
size_t audit_count_foldable(const struct audit_section *section);
// Adds a part of a section.
void audit_add_part(struct screen *screen, const struct audit_section *section,
		    struct audit_part part);
size_t audit_count_lines(const struct screen *screen, const struct audit_section *section,
			 struct audit_part part);
// Returns the largest part of a section that fits into `lines` lines, or the smallest one.
struct audit_part audit_choose_part(const struct screen *screen,
				    const struct audit_section *section, size_t lines);
