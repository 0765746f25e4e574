// SPDX-License-Identifier: MIT
// The tables of what passes to the user's terminal and what does not, each row with its reason.
#pragma once

#include "terminal/filter.h"

#include <stdbool.h>
#include <stddef.h>

extern const struct filter_rule filter_escapes[];  // ESC …
extern const struct filter_rule filter_controls[]; // CSI …; the first row that fits decides
extern const size_t filter_escape_count;
extern const size_t filter_control_count;
extern const struct filter_command filter_commands[]; // OSC …
extern const size_t filter_command_count;
bool filter_escape_passes(const char *sequence, size_t length, bool *ret_plain);
bool filter_control_passes(const char *sequence, size_t length, bool *ret_plain);
bool filter_command_passes(const char *payload, size_t length, bool *ret_plain);
