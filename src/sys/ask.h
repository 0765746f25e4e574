// SPDX-License-Identifier: MIT
// Asks the user a question on the terminal.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

// Returns whether a question can be asked.
bool ask_possible(void);
// Asks a question whose answer is one of these lower-case letters; the first is that of an empty
// answer. Returns the letter of the answer, '\0' for any other answer, and the first letter if
// there is no terminal.
char ask_letter(const char *question, const char *letters, struct arena *arena);
// Asks whether to start the box, and offers an empty home if `ret_empty_home` is not NULL. Returns
// false with an error if the answer is no, or there is no terminal.
bool ask_confirmation(bool *ret_empty_home, struct error *error);
// Asks a question and stores the answer. Returns false with an error if there is no terminal.
bool ask_yes_no(const char *question, bool *ret_yes, struct error *error);
