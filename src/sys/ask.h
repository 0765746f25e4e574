// SPDX-License-Identifier: MIT
// Asks the user a question on the terminal.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// Returns whether there is a terminal for questions.
bool ask_possible(void);
// Asks a question whose answer is one of these lower-case letters; the first is that of an empty
// answer. Returns the letter of the answer, '\0' for any other answer, and the first letter if
// there is no terminal.
char ask_letter(const char *question, const char *letters, struct arena *arena);
// An answer to the question whether to start, besides yes and no.
struct ask_key {
	char letter; // in lower case
	const char *effect;
};
// Asks whether to start the box, and names the keys. Stores 'y' or the letter of a key. Returns
// false with an error if the answer is another one, or there is no terminal.
bool ask_confirmation(const struct ask_key *keys, size_t count, char *ret_letter,
		      struct error *error);
// Asks a question and stores the answer. Returns false with an error if there is no terminal.
bool ask_yes_no(const char *question, bool *ret_yes, struct error *error);
