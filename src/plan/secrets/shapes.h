// SPDX-License-Identifier: MIT
// The shapes of tokens and keys of known providers.
#pragma once

#include "plan/secrets/bytes.h"

#include <stdbool.h>
#include <stddef.h>

// A pattern consists of literal text and of classes: '%', the letter of the class, and a count.
// "%a36" stands for exactly 36 characters, "%a20," for at least 20, "%a20,24" for 20 to 24.
//   a  letters and digits      b  a, '_' and '-'     w  a and '_'      d  digits
//   x  hexadecimal digits      u  capitals, digits   l  small letters, digits
//   s  base64                  t  b and '.'          p  b and "./+=~"  q  p and '%'
struct token_shape {
	char pattern[48]; // in the row itself: the search reads all of them
	const char *kind; // "a GitHub token"
	bool mixed;       // the prefix is also part of words: the rest must look random
};
enum { TOKEN_SHAPES_MAX = 512 };
// Rows that start with a class are the last ones.
extern const struct token_shape token_shapes[];
extern const size_t token_shape_count;

// The length of the shortest token.
enum { SHAPE_SHORTEST = 15 };

// Returns the length of the token that starts at text[at], 0: there is none. Stores its kind. In
// the middle of a word, only tokens with a distinctive prefix count.
size_t shape_match(const char *text, size_t at, const char **ret_kind);
// Returns whether an escape sequence (%20, \n, \u0022) is before text[at].
bool shape_after_escape(const char *text, size_t at);
// Returns whether a token or a name can start at text[at]: no letter or digit is before it, except
// one that belongs to an escape sequence.
static inline bool shape_boundary(const char *text, size_t at)
{
	return at == 0 || !byte_is_alnum(text[at - 1]) || shape_after_escape(text, at);
}
// Returns whether the bytes have a run of at least `shortest` letters and digits that looks random.
bool shape_random(const char *bytes, size_t length, size_t shortest);
