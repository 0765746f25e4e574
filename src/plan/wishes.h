// SPDX-License-Identifier: MIT
// What the repository itself asks for, in .claudebox/tools.txt (EXT-01). It is shown and asked about, never just done.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

#define WISH_DIRECTORY ".claudebox"
#define WISH_FILE      "tools.txt"

struct wishes {
	strings tools;
	strings odd; // lines that are no name
};

// One name a line, `#` begins a comment.
struct wishes wishes_parse(struct arena *arena, const char *text);

// How an answer is kept, and what was answered to exactly these wishes.
enum wish_answer { WISH_UNKNOWN, WISH_YES, WISH_NO };
const char *wishes_render_answer(struct arena *arena, const strings *tools,
				 enum wish_answer answer);
enum wish_answer wishes_answered(struct arena *arena, const strings *tools, const char *kept);
