// SPDX-License-Identifier: MIT
// Passwords in the arguments of known programs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Returns whether a program with a password among its arguments starts at text[at]:
// `mysql -pVALUE`, `curl -u user:VALUE`, `vault login VALUE`. Stores the place of the password.
bool command_match(const char *text, size_t at, size_t *ret_start, size_t *ret_length);
