// SPDX-License-Identifier: MIT
// The table of attacks, with the texts that the report shows.
#pragma once

#include "base/arena.h"
#include "prove/protocol.h"

#include <stdbool.h>

struct attack {
	const char *group;
	const char *tried;
	const char *blocked_by;
	bool reads_places; // a PLACE_ATTACK: reads the canaries in the places that name it
};
extern const struct attack attack_table[ATTACK_COUNT];

// Returns the attack's name, for example "files-ssh".
const char *attack_name(struct arena *arena, enum attack_id attack);
