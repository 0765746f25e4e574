// SPDX-License-Identifier: MIT
// Starts bwrap from the plan.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "box/box.h"
#include "plan/plan.h"

#include <stdbool.h>

// What the caller left open is nobody's business further on.
bool close_inherited_on_exec(struct error *error);
// The caller has set the terminal; the rest is filled here.
bool box_launch(struct box *box, const struct plan *plan, struct arena *arena, struct error *error);
// Whether this is what the audit showed. Numbers are used again: a link may have that of the file that it replaced.
bool file_is_same(int fd, const struct file_id *id);
// Sets the error for what is not.
bool file_changed_error(const char *path, struct error *error);
// The program that is process 1 of a box, in memory, close-on-exec; -1 with errno.
int init_memfd(void);
