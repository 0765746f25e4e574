// SPDX-License-Identifier: MIT
// The table of attacks, with the texts that the report shows.
#include "prove/attacks.h"

#include "base/arena.h"
#include "prove/protocol.h"

const struct attack attack_table[ATTACK_COUNT] = {
#define ATTACK(id, group, tried, blocked_by)       { group, tried, blocked_by, false },
#define PLACE_ATTACK(id, group, tried, blocked_by) { group, tried, blocked_by, true },
#include "prove/attacks.def"
};

const char *attack_name(struct arena *arena, enum attack_id attack)
{
	char name[ATTACK_NAME_SIZE];

	attack_write_name(attack, name);
	return arena_strdup(arena, name);
}
