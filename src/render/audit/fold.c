// SPDX-License-Identifier: MIT
// Lays out sections of items in a number of lines. What does not fit becomes a count.
#include "render/audit/fold.h"

#include "base/arena.h"
#include "base/screen.h"
#include "render/audit/section.h"

#include <stdbool.h>

struct share {
	const struct audit_section *section;
	size_t kept;   // lines that cannot be folded
	size_t red;    // of these, lines in red
	size_t first;  // lines with the first item in full
	size_t wanted; // lines of the whole section
	size_t lines;
};

static size_t count_red_lines(const struct screen *screen, const struct audit_section *section)
{
	struct audit_section red = { .label = section->label,
				     .list = section->list,
				     .details = section->details };

	vec_each(item, &section->items) {
		if (audit_is_red(item))
			vec_push(screen->arena, &red.items, *item);
	}
	return red.items.count ? audit_count_lines(screen, &red, (struct audit_part){ 0 }) : 0;
}

static struct share share_of(const struct screen *screen, const struct audit_section *section)
{
	size_t foldable = audit_count_foldable(section);
	bool kept = foldable < section->items.count;
	size_t least = audit_count_lines(screen, section,
					 (struct audit_part){ .words = !kept && !section->whole &&
								       foldable > 0 });

	return (struct share){
		.section = section,
		.kept = kept ? least - (foldable > 0) : 0,
		.red = count_red_lines(screen, section),
		.first = kept ? least
			      : audit_count_lines(screen, section,
						  (struct audit_part){ .shown = foldable > 0 }),
		.wanted = audit_count_lines(screen, section,
					    (struct audit_part){ .shown = foldable }),
		.lines = least,
	};
}

// Returns the section with the fewest lines that wants more, NULL: none does. `first`: only of
// those that get lines before the others.
static struct share *find_poorest(struct share *shares, size_t count, bool first)
{
	struct share *poorest = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t had = shares[i].lines - shares[i].kept;

		if (shares[i].lines < shares[i].wanted &&
		    (!first || had < shares[i].section->first_lines) &&
		    (!poorest || had < poorest->lines - poorest->kept))
			poorest = &shares[i];
	}
	return poorest;
}

// Gives lines to the sections: first for one item in full, then each time one to a section that has
// the fewest and wants more.
static void distribute(struct share *shares, size_t count, size_t lines)
{
	for (size_t i = 0; i < count; i++)
		lines -= shares[i].lines < lines ? shares[i].lines : lines;
	for (size_t i = 0; i < count; i++) {
		size_t more = shares[i].first > shares[i].lines ? shares[i].first - shares[i].lines
								: 0;

		if (more > lines)
			continue;
		shares[i].lines += more;
		lines -= more;
	}
	for (int first = 1; first >= 0; first--) {
		struct share *poorest;

		while (lines && (poorest = find_poorest(shares, count, first))) {
			poorest->lines++;
			lines--;
		}
	}
}

// Takes back the lines that a section cannot use, and gives them to the others, the last
// section first.
static void give_back(const struct screen *screen, struct share *shares, size_t count, size_t lines)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct audit_part part =
			audit_choose_part(screen, shares[i].section, shares[i].lines);

		shares[i].lines = audit_count_lines(screen, shares[i].section, part);
		used += shares[i].lines;
	}
	for (size_t i = count; i-- > 0 && used < lines;) {
		size_t before = shares[i].lines;
		struct audit_part part =
			audit_choose_part(screen, shares[i].section, before + (lines - used));

		shares[i].lines = audit_count_lines(screen, shares[i].section, part);
		used += shares[i].lines - before;
	}
}

void audit_fold(struct screen *screen, const audit_sections *sections, size_t lines, size_t spare)
{
	struct share *shares = arena_alloc(screen->arena, (sections->count + 1) * sizeof(*shares));
	size_t count = 0;
	size_t red = 0;

	vec_each(section, sections) {
		if (section->items.count)
			shares[count++] = share_of(screen, section);
	}
	for (size_t i = 0; i < count; i++)
		red += shares[i].red;
	lines += red < spare ? red : spare;
	distribute(shares, count, lines);
	give_back(screen, shares, count, lines);
	for (size_t i = 0; i < count; i++)
		audit_add_part(screen, shares[i].section,
			       audit_choose_part(screen, shares[i].section, shares[i].lines));
}
