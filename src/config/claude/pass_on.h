// SPDX-License-Identifier: MIT
// Passes words of the command line on to claude, or says why not.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/claude/words.h"
#include "config/config.h"

#include <stdbool.h>

// Adds a word to the arguments for claude, or for the shell. Returns false with an error if
// claudebox answers the word itself, or if it is a misspelled option of claudebox; `own`: it can be
// one.
bool claude_pass_word(struct config *config, struct arena *arena, struct claude_reader *reader,
		      const char *word, bool own, struct error *error);
// Does the same for all words of a list that ends with NULL. None is an option of claudebox.
bool claude_pass_words(struct config *config, struct arena *arena, struct claude_reader *reader,
		       char *const *words, struct error *error);
