// SPDX-License-Identifier: MIT
// The verdict on each attack, from the output of the attack program, the user's grants, and the
// changes that the host observed.
#pragma once

#include "base/arena.h"
#include "prove/canaries.h"
#include "prove/protocol.h"

#include <stddef.h>

struct proof_row {
	enum verdict verdict;
	const char *why;
};

struct proof {
	struct proof_row rows[ATTACK_COUNT];
	size_t counts[VERDICT_COUNT];
	const char *problem; // why the proof is incomplete, NULL if it is complete
};

// Returns the verdicts. `output` and `status` are the output and exit status of the attack program.
// `nested_by` names the origin of "nested" if the box may create user namespaces, otherwise NULL.
struct proof prove_judge(struct arena *arena, const char *output, int status, const canaries *list,
			 const char *nested_by);
