// SPDX-License-Identifier: MIT
// Which keys of a repository's configuration are harmless on the host.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Where the configuration is.
struct git_key_place {
	const char *worktree;  // that core.worktree may name or lie below, and that local remotes
			       // lie below; NULL: both are refused
	const char *directory; // the git directory, absolute
	const strings *git_directories; // of the user's repository and its submodules, which a
					// worktree may have outside of `worktree`; NULL: none
	bool is_modules;                // the git directory is one of a submodule, in .git/modules
	bool is_users;                  // the repository is older than the box
	bool overrides; // the file is config.worktree, which git reads behind config
};

enum git_key_rule {
	// These are harmless if the value has the right form.
	KEY_BOOLEAN,
	KEY_FALSE,    // false alone
	KEY_TRUE,     // true alone; a box may not remove it either
	KEY_PROBED,   // true or false, which git finds by trials; fixed in a repository of the user
	KEY_BARE,     // false alone in a repository of the user
	KEY_FORMAT,   // one of the words in the row, fixed in a repository of the user
	KEY_WORD,     // letters, digits and a few other characters, without '/', '%' and '!'
	KEY_CHOICE,   // one of the words in the row
	KEY_REF,      // a ref, a pattern of refs, a refspec
	KEY_TEXT,     // any text
	KEY_FETCH,    // a refspec; in a repository of the user it updates refs/remotes alone
	KEY_REMOTE,   // the name of a remote, or "."
	KEY_ADDRESS,  // an address
	KEY_WORKTREE, // a directory of the worktree
	// These are refused.
	KEY_PROGRAM,
	KEY_REDIRECT,
	KEY_FILE,
	KEY_INCLUDE,
	KEY_HIDES,
	KEY_LOSES,
	KEY_PROTECTION,
	KEY_RULE_COUNT,
};

// A row stands for some keys of a section.
struct git_key_row {
	const char *section; // "branch.*": with a name, [branch "x"]
	const char *keys;    // in lower case, separated by blanks; "*": all
	enum git_key_rule rule;
	const char *words; // of KEY_CHOICE and KEY_FORMAT; NULL: none
	const char *why;
};
extern const struct git_key_row git_key_table[];
extern const size_t git_key_count;

// Returns NULL if an entry is harmless: because of it, git executes no program, contacts no other
// place than the address that it shows, reads and writes nothing outside of the repository, hides
// no change, deletes no object sooner, and checks no less. Else returns a short reason for people.
// An entry without a row is refused. The name is that of git_config_parse(); a NULL value means a
// key without "=".
//
// Paths are judged as text. Before an entry with a path (git_key_path()) is applied, the caller has
// to see that no symbolic link leads it out of place->worktree.
const char *git_key_refusal(struct arena *arena, const char *name, const char *value,
			    const struct git_key_place *place);
// Returns the rule of the first row of a name, KEY_RULE_COUNT: it has none.
enum git_key_rule git_key_rule(struct arena *arena, const char *name);
// Returns the absolute path that a harmless entry names: that of core.worktree or of a local
// remote; NULL: it names none.
const char *git_key_path(struct arena *arena, const char *name, const char *value,
			 const struct git_key_place *place);
// The same as git_key_refusal() for the file .gitmodules.
const char *gitmodules_refusal(struct arena *arena, const char *name, const char *value);
