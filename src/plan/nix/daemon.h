// SPDX-License-Identifier: MIT
// The greeting of a Nix daemon, and Nix's settings files.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Writes the first message of a client with protocol 1.35. With this version, the daemon's greeting
// ends with whether it trusts the client.
enum { NIX_HELLO_SIZE = 32, NIX_GREETING_MAX = 512 };
void nix_render_hello(unsigned char bytes[NIX_HELLO_SIZE]);

enum nix_greeting {
	NIX_GREETING_INCOMPLETE,
	NIX_GREETING_INVALID, // not from a Nix daemon
	NIX_GREETING_UNKNOWN, // the daemon is too old, or reports no trust
	NIX_GREETING_TRUSTED,
	NIX_GREETING_NOT_TRUSTED,
};
// Parses the daemon's greeting as far as it has arrived.
enum nix_greeting nix_parse_greeting(const unsigned char *bytes, size_t size);

// Settings of nix.conf and the files that it includes.
struct nix_settings {
	strings trusted_users; // names, "@group", "*"
	const char *sandbox;
	bool incomplete; // a part cannot be read or parsed
	unsigned int files;
};
extern const struct nix_settings nix_default_settings;

// Returns the text of a file. Returns NULL if it cannot be read, and sets *ret_missing if the
// reason is that it does not exist.
typedef const char *(*nix_reader)(struct arena *arena, const char *path, bool *ret_missing);

// Parses a settings file. Its settings replace those of files that were parsed before.
void nix_parse_settings(struct nix_settings *settings, struct arena *arena, const char *path,
			nix_reader reader);
// Returns whether builds may run outside of Nix's sandbox, and so see files of the host.
bool nix_unsandboxed(const struct nix_settings *settings);
