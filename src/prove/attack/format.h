// SPDX-License-Identifier: MIT
// Formats text without a C library. Of printf's conversions there are %s, %d, and %x with eight
// digits.
#pragma once

#include <stdarg.h>
#include <stddef.h>

// Writes formatted text that is cut at size - 1 bytes. Returns buffer.
char *text_format(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void text_format_list(char *buffer, size_t size, const char *format, va_list values);
