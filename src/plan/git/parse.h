// SPDX-License-Identifier: MIT
// Parser for git configuration files, with the whole syntax of git-config(1).
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// At the start of a file, git ignores it.
#define GIT_BYTE_ORDER_MARK "\xef\xbb\xbf"

// Handles one entry. The name is that of `git config --list`: "core.worktree", "remote.X.url", with
// the section and the key in lower case. `value` is NULL for a key without "=", which means true.
typedef void (*git_config_handler)(void *context, const char *name, const char *value);

// A header or an entry, with its bytes in the text.
struct git_config_entry {
	const char *section; // "remote.X"; "" before the first header
	const char *name;    // NULL: this is a header
	const char *value;
	size_t start; // of the '[' or of the key
	size_t end;   // behind the ']', or behind the newline that ends the entry
};
typedef void (*git_config_entry_handler)(void *context, const struct git_config_entry *entry);

// Parses the text of a git configuration file and calls `handle` for each entry. An include is an
// entry like any other. Returns false at the first error, with the number of the line; git refuses
// to work with such a file.
bool git_config_parse(struct arena *arena, const char *text, git_config_handler handle,
		      void *context, size_t *ret_line);
// The same with headers and bytes of each entry.
bool git_config_parse_entries(struct arena *arena, const char *text,
			      git_config_entry_handler handle, void *context, size_t *ret_line);
