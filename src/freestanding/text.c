// SPDX-License-Identifier: MIT
// Strings for programs without a C library.
#include "freestanding/text.h"

size_t text_length(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

bool text_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

bool text_equal(const char *a, const char *b)
{
	return text_starts(a, b) && !a[text_length(b)];
}

const char *text_find(const char *text, size_t length, const char *wanted)
{
	size_t size = text_length(wanted);

	for (size_t i = 0; size && i + size <= length; i++) {
		size_t same = 0;

		while (same < size && text[i + same] == wanted[same])
			same++;
		if (same == size)
			return text + i;
	}
	return NULL;
}

long text_number(const char *text)
{
	bool minus = *text == '-';
	bool hexadecimal = text[minus] == '0' && text[minus + 1] == 'x';
	unsigned long number = 0;

	for (text += minus + 2 * hexadecimal; *text; text++) {
		int digit = *text >= 'a' ? *text - 'a' + 10 : *text - '0';

		if (digit < 0 || digit >= (hexadecimal ? 16 : 10))
			break;
		number = number * (hexadecimal ? 16 : 10) + (unsigned long)digit;
	}
	return (long)(minus ? -number : number);
}
