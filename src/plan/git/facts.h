// SPDX-License-Identifier: MIT
// Facts about the user's git configuration, as data: collected by src/probe/git.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// An entry of the configuration.
struct git_setting {
	const char *name;  // as `git config --list` shows it
	const char *value; // NULL: none, which means true
	bool box_writes;   // it is of a file that a box can write
};
typedef VEC(struct git_setting) git_settings;

// A setting that can name a file which git executes or reads as settings.
struct git_named {
	const char *name;
	const char *value;
	const char *file; // the configuration that has it
};

// A file of the user's configuration that is not used.
struct git_unread {
	const char *path;
	const char *why;
};

// Files that settings name and that the box gets as generated copies: rows of git_copy_table.
enum git_copy {
	GIT_COPY_IGNORE,
	GIT_COPY_ATTRIBUTES,
	GIT_COPY_TEMPLATE,
	GIT_COPY_COUNT,
};

struct git_copy_facts {
	const char *path;    // of the file on the host; NULL: there is none
	const char *real;    // without symbolic links
	const char *text;    // NULL: it is not used
	const char *problem; // why it is not used
};

struct git_user_facts {
	git_settings settings; // of the system and the user, with their includes, in git's order
	VEC(struct git_unread) unread;
	struct git_copy_facts copies[GIT_COPY_COUNT];
	strings filters;         // that attributes of the repository or the user name
	bool has_lfs;            // the repository has objects of git-lfs
	strings lfs_directories; // of the host that have git-lfs; searched only if it is wanted
	strings nested;          // repositories in the project, relative to it, as far as found
};
