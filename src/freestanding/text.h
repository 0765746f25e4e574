// SPDX-License-Identifier: MIT
// Strings for programs without a C library.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Length, equality and prefix of NUL-terminated strings.
size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *text, const char *prefix);

// Returns the first occurrence of `wanted` in `length` bytes of text, or NULL.
const char *text_find(const char *text, size_t length, const char *wanted);

// Returns the number at the start of text, decimal or hexadecimal ("0x"), with an optional minus
// sign.
long text_number(const char *text);
