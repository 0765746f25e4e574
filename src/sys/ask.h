// SPDX-License-Identifier: MIT
// The question before the start (UX-02).
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Asks on the terminal. False with an error when the answer is no or nobody can be asked.
bool ask_confirmation(struct error *error);
// A question that may be answered no. False with an error when nobody can be asked.
bool ask_yes_no(const char *question, bool *ret_yes, struct error *error);
