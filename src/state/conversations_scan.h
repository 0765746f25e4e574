// SPDX-License-Identifier: MIT
// Searches conversations of the host for secrets, with bounded memory.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stddef.h>

// The first hits of a file are named; the search of the file ends with the last of them.
enum { MOST_HITS = 3 };

struct conversation_hit {
	size_t line;
	const char *kind; // "a GitHub token"
};

struct conversation_scan {
	const struct host_conversation *conversation;
	struct conversation_hit hits[MOST_HITS];
	size_t count;
};
typedef VEC(struct conversation_scan) conversation_scans;

// Searches all conversations of the list, up to the size that was probed. Tells on stderr what
// takes longer than a second, unless it is `quiet`. Returns false with an error if one cannot be
// read.
bool conversations_scan(const struct conversation_facts *found, struct arena *arena, bool quiet,
			conversation_scans *ret_scans, struct error *error);

// Opens a conversation of the host and checks that it is the file that was probed. Returns -1 with
// an error.
int conversation_open(int source, const struct host_conversation *conversation,
		      struct error *error);
