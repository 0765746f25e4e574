// SPDX-License-Identifier: MIT
// The sign-in as data: which of two copies is to be believed, and what may go back to the host.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum credentials_move {
	CREDENTIALS_KEEP,    // nothing to do
	CREDENTIALS_TO_BOX,  // the host's copy replaces the boxes'
	CREDENTIALS_TO_HOST, // the boxes' copy replaces the host's
	CREDENTIALS_DROP,    // the user signed out on the host: so are the boxes
};

struct credentials_step {
	enum credentials_move move;
	const char *content; // of the file that is written
	const char *base;    // digest to remember: the token that both sides know; NULL: none
};

// Both texts may be NULL. `base` is the digest remembered from the last step; `starting` is true before a box starts,
// when a sign-in that a box lost is given again; `now_ms` is the time.
struct credentials_step credentials_decide(struct arena *arena, const char *host_text,
					   const char *box_text, const char *base, bool starting,
					   int64_t now_ms);
