// SPDX-License-Identifier: MIT
// Finds tokens in the addresses of package registries.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// A word that announces a token: the next part of the path is one, also if it looks harmless.
struct token_word_row {
	const char *word; // small letters and digits; '-', '_' and '.' in the address are ignored
	const char *why;
};
extern const struct token_word_row token_words[];
extern const size_t token_word_count;

// A host whose addresses have the token at a fixed place.
struct token_host_row {
	const char *host;  // with a '.' at its start: every host of that domain
	const char *after; // the first part of the path, which the token follows; NULL: it is first
	const char *unless; // the first part of an address without a token; NULL: all have one
	const char *why;
};
extern const struct token_host_row token_hosts[];
extern const size_t token_host_count;

// A parameter of a query whose value may be long.
struct harmless_parameter_row {
	const char *name;
	const char *why;
};
extern const struct harmless_parameter_row harmless_parameters[];
extern const size_t harmless_parameter_count;

// Returns whether an address without its login, or a list of addresses, may have a token in its
// host, path or query. It is strict: an address that is replaced by mistake leads nowhere, but a
// token that passes is lost.
bool address_has_token(struct arena *arena, const char *address);
