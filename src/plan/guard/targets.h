// SPDX-License-Identifier: MIT
// Files that the user's own git configuration names, and that git executes or reads as settings.
#pragma once

#include "base/arena.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"

#include <stdbool.h>
#include <stddef.h>

// What the value of a setting is.
enum guard_value {
	VALUE_COMMAND, // a command line: each word with a '/' can be a file that it runs
	VALUE_SHELL,   // a command line behind '!'; any other value names no file
	VALUE_FILE,    // a file or directory, relative to the worktree
	VALUE_INCLUDE, // a configuration, relative to the file that has the setting
};

// A row stands for some keys of a section.
struct guard_target_row {
	const char *section; // "filter.*": with a name, [filter "x"]
	const char *keys;    // in lower case, separated by blanks; "*": all
	enum guard_value value;
	struct guard_row place;
};
extern const struct guard_target_row guard_target_table[];
extern const size_t guard_target_count;

// Returns the row of a setting, NULL: it names no file. The name is that of git_config_parse().
const struct guard_target_row *guard_target_row(struct arena *arena, const char *name);
// Returns the paths in a value, as they are written there: relative, absolute or behind "~/".
strings guard_target_words(struct arena *arena, const struct guard_target_row *row,
			   const char *value);
// Returns whether a path relative to a git directory is one that git itself writes. A command line
// that names it does not make it a program.
bool guard_is_git_data(const char *path);

// Returns whether an entry of a directory may be a target, lie in one, or lead to one. Looks at
// names only, and is fast.
bool guard_target_may_be(const guard_targets *targets, const char *directory, const char *name);

// Returns whether git uses the directory as the top of a worktree: relative names count in it.
typedef bool (*guard_is_top)(const char *directory);
// Returns the row of the target that is at an absolute path, or of the directory around it; NULL:
// none.
const struct guard_row *guard_target_find(const guard_targets *targets, const char *path,
					  guard_is_top is_top);
// Returns the row of a target that lies below a path. A link at the path leads to the target.
const struct guard_row *guard_target_find_below(const guard_targets *targets, const char *path,
						guard_is_top is_top);
