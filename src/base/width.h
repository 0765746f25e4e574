// SPDX-License-Identifier: MIT
// Visible characters, and the columns that they take on a terminal.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Decodes the UTF-8 character at `text`. Returns its length in bytes, 0 if it is not valid.
size_t utf8_decode(const char *text, uint32_t *ret_character);

// Returns the length in bytes of the visible character at `s` and stores its width in *ret_columns:
// 0 for a combining mark, 1 or 2 otherwise. Returns 0 and leaves *ret_columns alone if the first
// byte is not part of a visible character and must be escaped.
size_t visible_length(const char *s, size_t *ret_columns);

// Returns the number of columns that `text` takes. The text is valid UTF-8 and escaped.
size_t display_width(const char *text);

// Returns the length in bytes of the longest beginning of `text` that takes at most `columns`
// columns, but at least one character. The text is valid UTF-8 and escaped; an escape is not split.
size_t display_fit(const char *text, size_t columns);
