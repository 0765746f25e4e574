// SPDX-License-Identifier: MIT
// Which settings of package managers pass into the box.
#pragma once

#include "plan/registries/setting.h"
#include "plan/registries/tools.h"

#include <stddef.h>

enum rule_kind {
	RULE_LEFT_OUT,   // named in the audit; also every setting without a row
	RULE_ADDRESS,    // passes: URLs, without the login in them
	RULE_WORD,       // passes: names, numbers and booleans
	RULE_BUNDLE,     // passes: a file with CA certificates, if the box has it
	RULE_CHANNEL,    // passes: addresses and names; one with a token in it is replaced
	RULE_CREDENTIAL, // named as a credential
	RULE_QUIET,      // not named: it changes nothing that is installed
};

// The steps of a pattern are separated by blanks. In a step, '*' stands for any text. A last step
// "**" stands for any number of steps, and the name in the audit ends before it.
struct rule_row {
	enum registry_tool tool;
	enum rule_kind kind;
	const char *pattern;
	const char *why;
};
extern const struct rule_row rule_table[];
extern const size_t rule_table_count;

// Returns the first row that matches the path of a setting, NULL: none.
const struct rule_row *rule_find(enum registry_tool tool, const struct setting *setting);
// Returns the name of a setting for the audit: its path, as far as the row tells settings apart.
const char *rule_show(struct arena *arena, const struct rule_row *row,
		      const struct setting *setting);
