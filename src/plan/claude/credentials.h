// SPDX-License-Identifier: MIT
// Decides which copy of Claude's credentials, the host's or the boxes', replaces the other.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum credentials_move {
	CREDENTIALS_KEEP,    // neither copy changes
	CREDENTIALS_TO_BOX,  // the host's copy replaces the boxes'
	CREDENTIALS_TO_HOST, // the boxes' copy replaces the host's
	CREDENTIALS_DROP,    // the user logged out on the host: the boxes' copy is removed
};

struct credentials_step {
	enum credentials_move move;
	const char *content; // of the file that is replaced
	const char *base;    // digest of the token that both sides have, to record; NULL: none
};

// Compares the text of the host's file with that of the boxes'; both may be NULL. `base` is the
// digest that the last step recorded. `starting` is true before the start of a box, which then gets
// the credentials again if an earlier box discarded them. `now_ms` is the time since 1970.
struct credentials_step credentials_decide(struct arena *arena, const char *host_text,
					   const char *box_text, const char *base, bool starting,
					   int64_t now_ms);
