// SPDX-License-Identifier: MIT
// Formats text without a C library. Of printf's conversions there are %s, %d, and %x with eight
// digits.
#include "prove/attack/format.h"

static size_t add_decimal(char *to, size_t room, long value)
{
	char digits[24];
	size_t count = 0;
	size_t used = 0;
	unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;

	do
		digits[count++] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		digits[count++] = '-';
	while (count && used < room)
		to[used++] = digits[--count];
	return used;
}

static size_t add_hexadecimal(char *to, size_t room, unsigned int value)
{
	size_t used = 0;

	for (int shift = 28; shift >= 0 && used < room; shift -= 4)
		to[used++] = "0123456789abcdef"[value >> shift & 0xf];
	return used;
}

static size_t add_text(char *to, size_t room, const char *text)
{
	size_t used = 0;

	while (used < room && text[used]) {
		to[used] = text[used];
		used++;
	}
	return used;
}

void text_format_list(char *buffer, size_t size, const char *format, va_list values)
{
	size_t used = 0;

	for (; *format && used + 1 < size; format++) {
		size_t room = size - 1 - used;

		if (*format != '%')
			buffer[used++] = *format;
		else if (*++format == 's')
			used += add_text(buffer + used, room, va_arg(values, const char *));
		else if (*format == 'd')
			used += add_decimal(buffer + used, room, va_arg(values, int));
		else
			used += add_hexadecimal(buffer + used, room, va_arg(values, unsigned int));
	}
	buffer[used] = 0;
}

char *text_format(char *buffer, size_t size, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	text_format_list(buffer, size, format, values);
	va_end(values);
	return buffer;
}
