// SPDX-License-Identifier: MIT
// A short difference between two files with untrusted content, of which a bounded part was read.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_kind {
	SAMPLE_MISSING,
	SAMPLE_FILE,
	SAMPLE_PROGRAM, // a file that can be executed
	SAMPLE_DIRECTORY,
	SAMPLE_LINK,
	SAMPLE_FIFO,
	SAMPLE_OTHER, // socket, device
	SAMPLE_KIND_COUNT,
};
// The names in JSON.
extern const char *const sample_kind_names[SAMPLE_KIND_COUNT];

// A file as it was found.
struct sample {
	enum sample_kind kind;
	uint64_t size;       // of a directory: of all files in it
	bool incomplete;     // `size` and `count` are lower bounds
	const char *bytes;   // the beginning of a file, a NUL follows; NULL: it cannot be read
	size_t length;       // of `bytes`
	const char *problem; // why it cannot be read
	const char *target;  // of a link
	strings files;       // the first files of a directory, relative to it
	size_t count;        // of all files in it
};

enum { DIFFERENCE_MAX = 20 };

// What putting `after` in the place of `before` changes.
struct difference {
	bool equal;
	bool binary; // one of the files is not text
	strings lines; // at most DIFFERENCE_MAX: '+', '-' or '@', and escaped text; secrets are masked
	size_t more;     // number of lines that are left out
	bool incomplete; // `more` is a lower bound
};

// Compares two samples. The lines of a missing file, and of one of another kind, are none.
struct difference difference_build(struct arena *arena, const struct sample *before,
				   const struct sample *after);
