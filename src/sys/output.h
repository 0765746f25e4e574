// SPDX-License-Identifier: MIT
// Who reads what we print: a person in front of a terminal, or a program; and how both are told something.
#pragma once

#include "base/error.h"
#include "base/screen.h"

#include <stdbool.h>

struct reader output_reader(int fd);
// What was asked for, whole.
bool output_print(int fd, const char *text, struct error *error);
// A line for whoever reads stderr, "label: text"; more lines where the terminal is narrow.
void output_message(const char *label, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void output_error(const struct error *error);
