// SPDX-License-Identifier: MIT
// What the attacks of --prove came to: the probe's lines, what the user granted, and what the host saw.
#pragma once

#include "base/arena.h"
#include "prove/canaries.h"

#include <stddef.h>

enum verdict {
	VERDICT_BLOCKED,
	VERDICT_LEAKED,
	VERDICT_OPEN,    // the tier means it
	VERDICT_GRANTED, // the user asked for it
	VERDICT_SKIPPED, // there was nothing to attack
	VERDICT_NOT_RUN,
	VERDICT_COUNT,
};

struct attack {
	const char *id; // as in the table
	const char *group;
	const char *tried;
	const char *blocked_by;
};

struct proof_row {
	enum verdict verdict;
	const char *why;
};

struct proof {
	struct proof_row *rows; // one for each attack
	size_t counts[VERDICT_COUNT];
	const char *problem; // why it proves nothing, NULL: it is complete
};

extern const char *const verdict_names[VERDICT_COUNT];
extern const struct attack attack_table[];
extern const size_t attack_count;
const char *attack_name(struct arena *arena, const struct attack *attack);
// From what the probe printed, how it ended, and what the host saw. `nested_by`: who let the box make boxes, or NULL.
struct proof prove_judge(struct arena *arena, const char *output, int status, const canaries *list,
			 const char *nested_by);
