// SPDX-License-Identifier: MIT
// What the repository itself asks for, in .claudebox/tools.txt (EXT-01). It is shown and asked about, never just done.
#pragma once

#include "base/arena.h"

#define REQUESTED_DIRECTORY ".claudebox"
#define REQUESTED_FILE      "tools.txt"

struct requested {
	strings tools;
	strings odd; // lines that are no name
};

// One name a line, `#` begins a comment.
struct requested requested_parse(struct arena *arena, const char *text);

// How an answer is kept, and what was answered to exactly these wishes.
enum requested_answer { REQUESTED_UNKNOWN, REQUESTED_YES, REQUESTED_NO };
const char *requested_render_answer(struct arena *arena, const strings *tools,
				    enum requested_answer answer);
enum requested_answer requested_answered(struct arena *arena, const strings *tools,
					 const char *kept);
