// SPDX-License-Identifier: MIT
// Requested packages: the repository's list in .claudebox/tools.txt.
#pragma once

#include "base/arena.h"

#define REQUESTED_DIRECTORY ".claudebox"
#define REQUESTED_FILE      "tools.txt"

struct requested {
	strings packages; // names of packages
	strings invalid;  // lines that are not valid names
};

// Parses a list with one name on each line; `#` begins a comment. `text` may be NULL.
struct requested requested_parse(struct arena *arena, const char *text);

enum requested_answer { REQUESTED_UNKNOWN, REQUESTED_YES, REQUESTED_NO };
// Returns the text of the file that stores the user's answer to a list.
const char *requested_render_answer(struct arena *arena, const strings *packages,
				    enum requested_answer answer);
// Returns the answer in the text of such a file; REQUESTED_UNKNOWN if `text` is NULL or the answer
// is to another list.
enum requested_answer requested_parse_answer(struct arena *arena, const strings *packages,
					     const char *text);
