// SPDX-License-Identifier: MIT
// Finds helper programs that only the user and root can have installed.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

// Returns the reason why a program is not trusted: a box or another user can change it, or a link
// or directory on the way to it. NULL: it is trusted.
const char *probe_trust_problem(struct arena *arena, const struct facts *facts, const char *path);
// Returns the path of a program: the one given at build time, otherwise the first trusted one on
// the host's PATH; NULL when there is none. Adds a message to `untrusted` (may be NULL) for each
// program that is ignored because a box or another user can change it.
const char *probe_program(struct arena *arena, const struct facts *facts, const char *name,
			  strings *untrusted);
// Returns the messages about all helper programs that are ignored, those that are needed only at
// times (git, nix) included.
strings probe_untrusted_programs(struct arena *arena, const struct facts *facts);
// Returns "a box" if one of this project can change the file or a link on the path to it, "a box of
// 'PROJECT'" if one of another known project can, otherwise NULL.
const char *probe_writing_box(struct arena *arena, const struct facts *facts,
			      const struct followed *file);
// Does the same for a path without symbolic links.
const char *probe_path_writer(struct arena *arena, const struct facts *facts, const char *path);
// Returns the first link on the path to the file that a box of this or another known project can
// change, unless the path ends in that project.
struct planted_link probe_planted_link(struct arena *arena, const struct facts *facts,
				       const struct followed *file);
// Returns whether another user can change or replace the file or a link on the path to it.
bool probe_others_can_change(struct arena *arena, const struct facts *facts,
			     const struct followed *file);
// Returns whether other users can write to a file with this status.
bool probe_writable_by_others(const struct facts *facts, const struct stat *status);
// Returns whether files of this owner are trusted: the user's, root's, and those of the owner of
// /usr.
bool probe_owner_trusted(const struct facts *facts, uid_t owner);
// Returns at most `count` bytes that follow a text in a program file, or NULL when the file does
// not contain the text.
const char *probe_text_after(struct arena *arena, const char *program, const char *wanted,
			     size_t count);
