// SPDX-License-Identifier: MIT
// Tables of the terminal filter: which escape sequences pass, each row with its reason.
#pragma once

#include "terminal/payload.h"

#include <stdbool.h>
#include <stddef.h>

// Which parameters of a sequence a rule applies to.
enum filter_parameters {
	PARAMETERS_ANY,
	PARAMETERS_FIRST, // the first one is listed; an omitted one counts as 0
	PARAMETERS_ALL,   // all are listed
	PARAMETERS_MODES, // all are modes of modes.c
};

// A rule for ESC and CSI sequences.
struct filter_rule {
	const char *intermediates; // private prefix and intermediate bytes
	const char *finals;        // the rule applies to each of these final bytes
	const char *reason;        // what the sequence does, or why it does not pass
	const char *listed;        // parameters, as "4 20"
	enum filter_parameters parameters;
	bool pass;
	bool stateless;     // sets no mode and requests no answer
	bool query;         // requests an answer
	bool input;         // changes what the terminal sends
	unsigned int needs; // set of enum terminal_class
	const char *reset;  // a part of the row of terminal_resets that resets it
};

// A rule for OSC sequences.
struct filter_osc_rule {
	int number;
	enum filter_form form;
	const char *reason;
	unsigned int needs; // set of enum terminal_class
	bool stateless;
	bool query;
	const char *reset; // a part of the row of terminal_resets that resets it
};

// What a rule says about a complete sequence.
struct filter_result {
	bool pass; // if all of `needs` are allowed
	bool stateless;
	unsigned int query; // the number of answers that it requests
	bool input;         // changes what the terminal sends
	bool part;          // continues another sequence
	unsigned int needs; // set of enum terminal_class
	const char *reset;  // a part of the row of terminal_resets that resets it; NULL: none
};

// The first rule that matches a sequence decides.
extern const struct filter_rule filter_escape_rules[]; // ESC …
extern const size_t filter_escape_rule_count;
extern const struct filter_rule filter_csi_rules[]; // CSI …
extern const size_t filter_csi_rule_count;
extern const struct filter_osc_rule filter_osc_rules[]; // OSC …, by number
extern const size_t filter_osc_rule_count;

// Return what the rules say about a complete sequence. The first two take the whole sequence, the
// others the text between "ESC ]", "ESC P" or "ESC _" and the terminator.
struct filter_result filter_escape(const char *sequence, size_t length);
struct filter_result filter_csi(const char *sequence, size_t length);
struct filter_result filter_osc(const char *payload, size_t length);
struct filter_result filter_dcs(const char *payload, size_t length);
struct filter_result filter_apc(const char *payload, size_t length);

// Returns whether an OSC sequence contains text for people, which is cleaned before filter_osc();
// *ret_most is the largest length of the payload.
bool filter_osc_is_text(const char *payload, size_t length, size_t *ret_most);
