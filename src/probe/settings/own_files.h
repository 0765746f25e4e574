// SPDX-License-Identifier: MIT
// Decides which files of the user claudebox uses without being asked.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stddef.h>

// The reason for files that are named in a file which a box can write.
#define OWN_NAMED_BY_BOX "a box can change the file that names it"

// Returns why a file or directory is not used: it is one of the kernel or of claudebox's state, or
// a box can have made a link on the way to it. NULL: none of these.
const char *probe_own_place_problem(struct arena *arena, const struct facts *facts,
				    const struct followed *file);
// Does the same, and refuses what lies in or near a secret place, or has the name of a secret. The
// secret place at the path itself (~/.claude.json) does not count with SETTINGS_USUAL_NAME. `flags`
// are those of probe_settings_file().
const char *probe_own_problem(struct arena *arena, const struct facts *facts,
			      const struct followed *file, int flags);
// Returns whether a box can have written the content of the file. Such a file cannot name others.
bool probe_own_box_writes(struct arena *arena, const struct facts *facts,
			  const struct followed *file);
// Returns the text of a file of the user. NULL: it does not exist, or *ret_problem says why it is
// not used. `limit` and `flags` are those of probe_settings_file().
const char *probe_own_file(struct arena *arena, const struct facts *facts,
			   const struct followed *file, size_t limit, int flags,
			   const char **ret_problem);
