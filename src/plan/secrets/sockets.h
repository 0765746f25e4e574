// SPDX-License-Identifier: MIT
// Sockets of the host whose owner acts for the user. A mount of a directory with one of them would
// pass it into the box, also if it is read-only. A new one is a row in sockets.c: no mount and no
// project may contain it.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stddef.h>

struct socket_row {
	const char *variable; // names the socket; NULL: it has a fixed path
	// The text before the path in the variable's value, or the path: "%u/" stands for the
	// runtime directory, "%i" for the user id.
	const char *text;
	const char *end; // the characters that end the path in the variable's value
	const char *what;
};
extern const struct socket_row socket_table[];
extern const size_t socket_table_count;

// Returns the path of the socket of this row, NULL: there is none.
const char *socket_row_path(struct arena *arena, const struct facts *facts,
			    const struct socket_row *row);
