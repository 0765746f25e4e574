// SPDX-License-Identifier: MIT
// Prints results, messages and errors for a terminal or for a program.
#pragma once

#include "base/error.h"
#include "base/screen.h"

#include <stdbool.h>

// Returns the properties of the reader of `fd`: terminal, width, colours, characters.
struct reader output_reader(int fd);
// Writes all of `text` to `fd`. Returns false with an error on failure.
bool output_print(int fd, const char *text, struct error *error);
// Prints "LABEL: text" on stderr, wrapped if that is a terminal.
void output_message(const char *label, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// Prints the message, the note and the hint of an error on stderr.
void output_error(const struct error *error);
