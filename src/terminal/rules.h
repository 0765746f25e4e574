// SPDX-License-Identifier: MIT
// Tables of the terminal filter: which escape sequences pass, each row with its reason.
#pragma once

#include "terminal/filter.h"

#include <stdbool.h>
#include <stddef.h>

// The first rule that matches a sequence decides.
extern const struct filter_rule filter_escape_rules[]; // ESC …
extern const size_t filter_escape_rule_count;
extern const struct filter_rule filter_csi_rules[]; // CSI …
extern const size_t filter_csi_rule_count;
extern const struct filter_osc_rule filter_osc_rules[]; // OSC …, by number
extern const size_t filter_osc_rule_count;

// Return whether a complete sequence passes. *ret_stateless is whether it sets no mode and
// requests no answer. The first two take the whole sequence, the third one the text between "ESC ]"
// and its terminator.
bool filter_escape_passes(const char *sequence, size_t length, bool *ret_stateless);
bool filter_csi_passes(const char *sequence, size_t length, bool *ret_stateless);
bool filter_osc_passes(const char *payload, size_t length, bool *ret_stateless);
