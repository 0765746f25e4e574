// SPDX-License-Identifier: MIT
// Which addresses of git lead to a server, and to no program of the host.
#pragma once

#include "base/arena.h"
#include "plan/guard/keys.h"

// Returns NULL if git runs nothing but its own client for this address, or a short reason.
//
// A local path makes git run upload-pack or receive-pack in that repository, with its hooks and its
// configuration. It is harmless only below place->worktree, where the guard judges each repository;
// `place` NULL or without a worktree: every local path is refused. The caller has to see that no
// symbolic link leads it elsewhere, see git_path_refusal().
const char *git_address_refusal(struct arena *arena, const char *address,
				const struct git_key_place *place);
// Returns the absolute path that an address names, without "." and "..", NULL: none, or the
// directory is not known to which a relative path belongs.
const char *git_address_path(struct arena *arena, const char *address,
			     const struct git_key_place *place);
// Returns NULL if the guard judges a repository at a path, which is absolute and has no "." and
// "..": it is in the worktree, in no directory of dependencies and in no git directory.
const char *git_path_refusal(struct arena *arena, const char *path,
			     const struct git_key_place *place);
// Returns whether a part of a path is a name of git directories, in any spelling that a file system
// may take for it.
bool path_has_git_part(const char *path);
// Returns NULL if "./x" or "../x", which git appends to the address of another remote, changes its
// last parts alone, or a short reason.
const char *git_address_relative_refusal(const char *address);
