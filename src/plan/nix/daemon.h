// SPDX-License-Identifier: MIT
// What Nix says about itself: the daemon's greeting, and its settings.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// What a client of protocol 1.35 says first: the daemon's answer then ends with whether it trusts us.
enum { NIX_HELLO_SIZE = 32, NIX_GREETING_LIMIT = 512 };
void nix_make_hello(unsigned char bytes[NIX_HELLO_SIZE]);

enum nix_answer {
	NIX_ANSWER_MORE, // not all of it is here
	NIX_ANSWER_BAD,  // this is no Nix daemon
	NIX_ANSWER_NONE, // an old one, or it does not know
	NIX_ANSWER_TRUSTED,
	NIX_ANSWER_NOT_TRUSTED,
};
enum nix_answer nix_read_greeting(const unsigned char *bytes, size_t size);

// Of nix.conf and what it includes.
struct nix_settings {
	strings trusted_users; // names, "@group", "*"
	const char *sandbox;
	bool doubtful; // a part cannot be read or understood
	unsigned int files;
};
extern const struct nix_settings nix_default_settings;

// A file's text; NULL when there is none, and *ret_missing tells whether that is all.
typedef const char *(*nix_reader)(struct arena *arena, const char *path, bool *ret_missing);

// Settings of a later file replace those of an earlier one.
void nix_read_settings(struct nix_settings *settings, struct arena *arena, const char *path,
		       nix_reader reader);
// Whether builds can see more than what they need.
bool nix_unsandboxed(const struct nix_settings *settings);
