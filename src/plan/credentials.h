// SPDX-License-Identifier: MIT
// The sign-in as data: which of two copies is to be believed, and what may go back to the host.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum sign_in_move {
	SIGN_IN_KEEP,    // nothing to do
	SIGN_IN_TO_BOX,  // the host's copy replaces the boxes'
	SIGN_IN_TO_HOST, // the boxes' copy replaces the host's
	SIGN_IN_DROP,    // the user signed out on the host: so are the boxes
};

struct sign_in_step {
	enum sign_in_move move;
	const char *content; // of the file that is written
	const char *base;    // digest to remember: the token that both sides know; NULL: none
};

// Both texts may be NULL. `base` is the digest remembered from the last step; `starting` is true before a box starts,
// when a sign-in that a box lost is given again; `now_ms` is the time.
struct sign_in_step sign_in_decide(struct arena *arena, const char *host_text, const char *box_text,
				   const char *base, bool starting, int64_t now_ms);
