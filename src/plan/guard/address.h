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
// Returns whether the guard judges the git directory at a path: it is one of
// place->git_directories, or a `.git` in the worktree, or that of a submodule or a worktree in one
// of these, or elsewhere in the worktree, but in no directory of dependencies.
bool git_directory_is_judged(struct arena *arena, const char *path,
			     const struct git_key_place *place);
// Returns NULL if the guard judges a repository at a path, which is absolute and has no "." and
// "..": it is in the worktree, in no directory of dependencies, and in no git directory except
// those of git_directory_is_judged().
const char *git_path_refusal(struct arena *arena, const char *path,
			     const struct git_key_place *place);
// Returns the path of an address that only leads to a repository of this machine outside of the
// worktree, NULL: it leads elsewhere, or is no plain address.
const char *git_address_outside(struct arena *arena, const char *address,
				const struct git_key_place *place);
// Returns whether a part of a path is a name of git directories, in any spelling that a file system
// may take for it.
bool path_has_git_part(const char *path);
// Returns NULL if "./x" or "../x", which git appends to the address of another remote, changes its
// last parts alone, or a short reason.
const char *git_address_relative_refusal(const char *address);
