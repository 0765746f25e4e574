// SPDX-License-Identifier: MIT
// Refuses two options of which each chooses what claudebox does.
#include "config/options/modes.h"

#include "base/error.h"
#include "config/options/table.h"

// Returns where an option is noted, NULL: it chooses nothing of this kind. --help and --version win
// over every other option, as in other programs.
static const struct option_row **slot_of(struct modes *modes, enum option_id id)
{
	switch (id) {
	case OPTION_DRY_RUN:
	case OPTION_CHECK:
	case OPTION_PROVE:
	case OPTION_INSTANCES:
	case OPTION_GC:
	case OPTION_QUARANTINE:
	case OPTION_DIFF:
	case OPTION_UNDO:
	case OPTION_LAST_REPORT:
		return &modes->action;
	case OPTION_SHELL:
	case OPTION_EXEC:
		return &modes->payload;
	default:
		return NULL;
	}
}

// Returns whether two options belong together: --dry-run lists what --gc would remove, or what
// --undo would do.
static bool is_pair(enum option_id a, enum option_id b)
{
	return b == OPTION_DRY_RUN ? a == OPTION_GC || a == OPTION_UNDO
				   : a == OPTION_DRY_RUN && is_pair(b, a);
}

bool modes_add(struct modes *modes, const struct option_row *row, struct error *error)
{
	const struct option_row **slot = slot_of(modes, row->id);

	if (!slot)
		return true;
	if (!*slot || *slot == row) {
		*slot = row;
		return true;
	}
	if (is_pair((*slot)->id, row->id))
		return true;
	error_set(error, "options '--%s' and '--%s' cannot be combined", (*slot)->name, row->name);
	error->status = EXIT_USAGE;
	return error_hint(error, "give one of them");
}
