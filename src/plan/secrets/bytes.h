// SPDX-License-Identifier: MIT
// Classes of ASCII characters, for the detector of secrets: it looks at every byte of large texts,
// and the functions of <ctype.h> are calls.
#pragma once

#include <stdbool.h>

static inline bool byte_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool byte_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool byte_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool byte_is_alpha(char c)
{
	return byte_is_lower((char)(c | 0x20));
}

static inline bool byte_is_alnum(char c)
{
	return byte_is_alpha(c) || byte_is_digit(c);
}

static inline bool byte_is_hex(char c)
{
	return byte_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}
