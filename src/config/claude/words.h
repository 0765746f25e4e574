// SPDX-License-Identifier: MIT
// Reads the words for claude as claude does: which are options, values, the sub-command.
#pragma once

#include "base/arena.h"
#include "config/claude/options.h"

#include <stdbool.h>
#include <stddef.h>

enum claude_word {
	CLAUDE_WORD_OPTION,
	CLAUDE_WORD_VALUE,   // of the option before it
	CLAUDE_WORD_PLAIN,   // the prompt, or a word after the sub-command
	CLAUDE_WORD_COMMAND, // a sub-command: all words that follow belong to it
	CLAUDE_WORD_UNKNOWN, // an option that claude does not have, as far as claudebox knows
	CLAUDE_WORD_DASHES,  // "--": no option follows
};

// The state between two words. All zero before the first one.
struct claude_reader {
	size_t count;                       // of words so far
	const struct claude_option *option; // that may take the next word
	bool required;                      // … even if it starts with '-'
	bool print;                         // with -p, claude has no sub-commands
	bool plain;                         // a word that is no option was read
	bool unknown;                       // what follows may be its value
	bool dashes;
	const struct claude_command *command;
	const struct claude_option *found; // the option of the last word
	const char *value;                 // the value in the last word, NULL: none
};

// Reads the next word. Sets `found` and `value` of the reader.
enum claude_word claude_read_word(struct claude_reader *reader, const char *word);
// Returns the answer that claudebox gives instead of passing the last word on, or NULL.
const struct claude_answer *claude_word_answer(const struct claude_reader *reader,
					       enum claude_word kind);

// A value of an option that can be a path.
struct claude_argument {
	const struct claude_option *option;
	size_t word;       // index of the word that contains it
	const char *value; // in this word
	bool json;         // it is not a path
};
typedef VEC(struct claude_argument) claude_arguments;

// Returns the values of all options of claude that can be paths.
claude_arguments claude_find_arguments(struct arena *arena, const strings *words);
// Returns whether claude answers once and ends (-p), without a screen.
bool claude_words_print(const strings *words);
// Returns whether claude only prints its version or its help: there is one word, --version, --help
// or its letter.
bool claude_words_inform(const strings *words);
// Returns whether claude requires that no option comes before the first of these words.
bool claude_words_are_first(const strings *words);
