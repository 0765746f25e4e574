// SPDX-License-Identifier: MIT
// The options and sub-commands of claude, as far as claudebox has to know them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum claude_value {
	CLAUDE_VALUE_NONE,
	CLAUDE_VALUE_ONE,      // --name VALUE or --name=VALUE
	CLAUDE_VALUE_OPTIONAL, // the next word, unless it starts with '-'
	CLAUDE_VALUE_MANY,     // the next word and all that follow, up to one that starts with '-'
};

enum claude_path {
	CLAUDE_PATH_NONE,    // the value is not a path
	CLAUDE_PATH_READ,    // claude reads this file or directory
	CLAUDE_PATH_OR_JSON, // the same, unless the value is JSON
	CLAUDE_PATH_WRITTEN, // claude writes this file
};

// Why claudebox answers a word itself instead of passing it to claude.
struct claude_answer {
	const char *problem;
	const char *hint;
};

struct claude_option {
	const char *name;
	const char *letter; // "p", "d2e"; NULL: none
	enum claude_value value;
	enum claude_path path;
	const struct claude_answer *answer; // NULL: passed to claude
};

struct claude_command {
	const char *name;
	bool first; // claude recognises it as its first word only
	const struct claude_answer *answer;
};

// Returns the row of an option's name, of `length` bytes, or NULL.
const struct claude_option *claude_option_find(const char *name, size_t length);
// Returns the row of a short option, without its '-', or NULL.
const struct claude_option *claude_option_find_letter(const char *letter, size_t length);
const struct claude_command *claude_command_find(const char *word);

extern const struct claude_option claude_option_table[];
extern const size_t claude_option_count;
extern const struct claude_command claude_command_table[];
extern const size_t claude_command_count;
