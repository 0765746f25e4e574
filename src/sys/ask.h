// SPDX-License-Identifier: MIT
// Asks the user a yes-or-no question on the terminal.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Asks whether to start the box. Returns false with an error if the answer is no, or there is no
// terminal.
bool ask_confirmation(struct error *error);
// Asks a question and stores the answer. Returns false with an error if there is no terminal.
bool ask_yes_no(const char *question, bool *ret_yes, struct error *error);
