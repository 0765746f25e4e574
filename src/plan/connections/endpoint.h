// SPDX-License-Identifier: MIT
// Judges the address of a proxy or of an API: whether it has a login, and whether the box reaches
// it.
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "plan/plan.h"

#include <stdbool.h>

struct endpoint {
	bool odd;     // its form is unusual, and may hide a login
	bool login;   // it has a user name, a password or a token
	bool literal; // the host is an IP address
	bool local;   // the host is this machine's loopback
	struct address_range address;
	unsigned int port; // 0: unknown
};

// Parses an address. Every form that programs read in different ways counts as odd or as a login.
struct endpoint endpoint_parse(struct arena *arena, const char *text);
// Returns the scheme and the host of each "scheme://host" in a text, in lines, without user names
// and passwords; NULL: there is none. `secret`: a password may contain any character, so everything
// before the last '@' of a word counts as one.
const char *endpoint_hosts(struct arena *arena, const char *text, bool secret);
// Returns whether an address, or a list, has a user name or a password in any spelling.
bool endpoint_has_user(const char *text);
// Returns why a list of hosts does not pass, NULL: it does.
const char *endpoint_list_problem(const char *text);

// Returns why the box cannot reach an address in its tier, and stores the option that changes it.
// NULL: it can, or the address is a host name that cannot be judged.
const char *endpoint_obstacle(struct arena *arena, const struct plan *plan,
			      const struct endpoint *endpoint, const char **ret_option);
