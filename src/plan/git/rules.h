// SPDX-License-Identifier: MIT
// Which settings of git pass into the box.
#pragma once

#include "base/arena.h"
#include "plan/git/facts.h"

#include <stdbool.h>
#include <stddef.h>

enum git_rule {
	GIT_QUIET, // not in the box and not named; also every setting without a row
	// These pass, if the value has the right form.
	GIT_WORD,    // a name, a number, a list of them; no path outside of the project
	GIT_TEXT,    // any text without control characters
	GIT_FILE,    // names a file that is copied
	GIT_ALIAS,   // a command of git that names no program
	GIT_ADDRESS, // rewrites addresses
	GIT_LFS,     // the filter of git-lfs
	// These are not copied, but named if they contain a secret.
	GIT_IDENTITY,
	// These stay outside and are named.
	GIT_SIGNING,
	GIT_HOOKS,
	GIT_TEMPLATE,
	GIT_FILTERS,
	GIT_DIFF,
	GIT_MERGE,
	GIT_PROGRAM,
	GIT_CONNECTION,
	GIT_CERTIFICATES,
	GIT_ALIAS_PROGRAM,
	GIT_SSH,
	GIT_LOCAL_ADDRESS,
	GIT_SECRET,
	GIT_FORM,
	GIT_RULE_COUNT,
};

// A row stands for some keys of a section.
struct git_rule_row {
	const char *section; // "branch.*": with a name, [branch "x"]
	const char *keys;    // in lower case, separated by blanks; "*": all
	enum git_rule rule;
	const char *why;
};
extern const struct git_rule_row git_rule_table[];
extern const size_t git_rule_count;

// Why settings stay outside, and the command that brings them.
struct git_outside_row {
	const char *why;
	const char *option; // %s: the directory that the setting names; NULL: there is none
};
extern const struct git_outside_row git_outside_table[GIT_RULE_COUNT];

// Returns whether a list of keys, separated by blanks, has a key; "*" has all.
bool git_keys_have(const char *keys, const char *key);
// Returns the row of a setting, NULL: it has none. The first row that matches counts.
const struct git_rule_row *git_rule_find(struct arena *arena, const char *name);
// Returns whether a setting passes (GIT_WORD), is not named (GIT_QUIET), or the reason why it stays
// outside. `lfs`: the box has git-lfs.
enum git_rule git_judge(struct arena *arena, const struct git_setting *setting, bool lfs);
// Returns the value of user.name or user.email, which every generated file has; the default if
// there is none, or if it contains a secret. `setting` may be NULL.
const char *git_identity_value(const struct git_setting *setting, const char *fallback);
