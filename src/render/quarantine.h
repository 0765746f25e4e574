// SPDX-License-Identifier: MIT
// The list of --quarantine as text and as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "render/difference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An item of the quarantine, and what is at its place now.
struct quarantine_row {
	size_t number; // in the list, from 1 on
	const char *id;
	const char *path;  // where it was
	const char *file;  // where it is
	const char *why;   // what the host does with it
	const char *moved; // local time, for people
	int64_t moved_ms;  // since 1970
	bool copied;       // the place kept a harmless version
	struct sample item;
	struct sample present;
	bool in_part;         // the place has a file, to which only settings are added
	size_t settings;      // number of them
	const char *obstacle; // why the place cannot be reached, NULL: it can be
	struct difference difference;
};
typedef VEC(struct quarantine_row) quarantine_rows;

// Renders the list, and the commands that put an item back or remove all.
const char *render_quarantine(struct arena *arena, const quarantine_rows *rows, const char *home,
			      struct reader reader);
// Renders one item, for the question whether to put it back.
const char *render_quarantine_row(struct arena *arena, const struct quarantine_row *row,
				  const char *home, struct reader reader);
const char *render_quarantine_json(struct arena *arena, const quarantine_rows *rows);
