// SPDX-License-Identifier: MIT
// The variables that decide how programs of the box reach the network, each row with its reason.
#pragma once

#include "config/names.h"

#include <stdbool.h>
#include <stddef.h>

// Variables with the address of a proxy, and with the hosts that need none.
extern const struct variable_row proxy_variables[];
extern const size_t proxy_variable_count;
// Returns whether such a variable is a list of hosts.
bool proxy_variable_is_list(const char *name);

// Variables that name a file or a directory with CA certificates.
struct certificate_row {
	const char *name;
	const char *why;
	bool system; // it is the system's bundle if the host does not set it
};
extern const struct certificate_row certificate_table[];
extern const size_t certificate_table_count;

// Variables that log in to the API of Claude. They pass if they are set, and they are secrets.
extern const struct variable_row login_variables[];
extern const size_t login_variable_count;

// Variables of Claude Code that change results outside and never pass by themselves.
extern const struct variable_row refused_variables[];
extern const size_t refused_variable_count;

// A cloud that offers the API of Claude.
struct cloud_row {
	const char *name;
	const char *enable;         // the variable that selects it
	const char *skip;           // the variable that says that a gateway logs in
	const char *regions[4];     // variables without secrets, which pass if it is selected
	const char *credentials[8]; // variables that log in, which pass only by name
	const char *place;          // where its programs keep credentials
	const char *why;            // the credentials stay outside
};
extern const struct cloud_row cloud_table[];
extern const size_t cloud_table_count;

// Variables that a user does not miss in the box: they describe the session outside.
extern const struct variable_row unmissed_variables[];
extern const size_t unmissed_variable_count;
