// SPDX-License-Identifier: MIT
// A file that a session changed, as data.
#pragma once

#include "base/arena.h"
#include "plan/guard/index.h"

#include <stdbool.h>
#include <stdint.h>

// A file as git stores it.
struct file_version {
	uint32_t mode;      // type and executable bit as in git's index, 0: it does not exist
	const char *object; // id of its content
};

struct file_change {
	const char *path; // relative to the project
	struct file_version before;
	struct file_version after;
	bool counted; // `added` and `removed` are known
	bool binary;
	size_t added; // lines
	size_t removed;
};
typedef VEC(struct file_change) file_changes;
