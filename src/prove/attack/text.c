// SPDX-License-Identifier: MIT
// Text, files and numbers for the probe, without a C library.
#include "prove/attack/attack.h"

#include <stdarg.h>

const char up[] = "../../../../../../../../../../../../../../../../../../../../../../../../";

void leave(int status)
{
	for (;;)
		call(__NR_exit_group, status, 0, 0, 0);
}

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

bool has_token(const void *data, long length)
{
	return length > 0 && text_find(data, (size_t)length, probe.token);
}

static size_t add_number(char *to, size_t room, long value)
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

static void format_into(char *buffer, size_t size, const char *format, va_list values)
{
	size_t used = 0;

	for (; *format && used + 1 < size; format++) {
		size_t room = size - 1 - used;

		if (*format != '%')
			buffer[used++] = *format;
		else if (*++format == 's')
			used += add_text(buffer + used, room, va_arg(values, const char *));
		else if (*format == 'd')
			used += add_number(buffer + used, room, va_arg(values, int));
		else
			used += add_hexadecimal(buffer + used, room, va_arg(values, unsigned int));
	}
	buffer[used] = 0;
}

char *text_make(char *buffer, size_t size, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	format_into(buffer, size, format, values);
	va_end(values);
	return buffer;
}

enum verdict conclude(enum verdict verdict, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	format_into(outcome->why, sizeof(outcome->why), format, values);
	va_end(values);
	for (char *s = outcome->why; *s; s++)
		if (*s < ' ' || *s == 0x7f)
			*s = '?';
	outcome->verdict = (int)verdict;
	return verdict;
}

void expect_crash(void)
{
	outcome->crash_expected = true;
}

long text_number(const char *text)
{
	bool minus = *text == '-';
	bool hexadecimal = text[minus] == '0' && text[minus + 1] == 'x';
	long number = 0;

	for (text += minus + 2 * hexadecimal; *text; text++) {
		int digit = *text >= 'a' ? *text - 'a' + 10 : *text - '0';

		if (digit < 0 || digit >= (hexadecimal ? 16 : 10))
			break;
		number = number * (hexadecimal ? 16 : 10) + digit;
	}
	return minus ? -number : number;
}

const char *expand(char *buffer, size_t size, const char *pattern)
{
	int user = (int)call(__NR_geteuid, 0, 0, 0, 0);
	char tail[256];
	size_t used = 0;

	for (const char *s = pattern; *s && used + 12 < sizeof(tail); s++) {
		if (s[0] == '%' && s[1] == 'd') {
			used += add_number(tail + used, 11, user);
			s++;
		} else if (s != pattern || *s != '~') {
			tail[used++] = *s;
		}
	}
	tail[used] = 0;
	return text_make(buffer, size, "%s%s", *pattern == '~' ? probe.home : "", tail);
}

static const struct {
	int number;
	const char *name;
} error_names[] = {
#define NAME(error)           \
	{                     \
		error, #error \
	}
	NAME(EPERM),        NAME(ENOENT),       NAME(ESRCH),         NAME(EINTR),
	NAME(EIO),          NAME(ENXIO),        NAME(EBADF),         NAME(EAGAIN),
	NAME(ENOMEM),       NAME(EACCES),       NAME(EFAULT),        NAME(EBUSY),
	NAME(EEXIST),       NAME(EXDEV),        NAME(ENODEV),        NAME(ENOTDIR),
	NAME(EISDIR),       NAME(EINVAL),       NAME(EMFILE),        NAME(ENOTTY),
	NAME(ETXTBSY),      NAME(ENOSPC),       NAME(EROFS),         NAME(ENAMETOOLONG),
	NAME(ENOSYS),       NAME(ELOOP),        NAME(ENODATA),       NAME(EPROTOTYPE),
	NAME(EOPNOTSUPP),   NAME(EAFNOSUPPORT), NAME(EADDRNOTAVAIL), NAME(EPROTONOSUPPORT),
	NAME(ENETUNREACH),  NAME(ECONNRESET),   NAME(ETIMEDOUT),     NAME(ESOCKTNOSUPPORT),
	NAME(ECONNREFUSED), NAME(EHOSTUNREACH), NAME(EINPROGRESS),   NAME(ENOKEY),
	NAME(EKEYREVOKED),  NAME(EDQUOT),       NAME(ENETDOWN),
#undef NAME
};

const char *error_name(long error)
{
	static char other[24];

	for (size_t i = 0; i < ARRAY_SIZE(error_names); i++)
		if (error_names[i].number == -error)
			return error_names[i].name;
	return text_make(other, sizeof(other), "error %d", (int)-error);
}

bool failed(struct tries *tries, long result)
{
	tries->count++;
	if (result >= 0)
		return false;
	if (!tries->error || tries->error == -ENOENT)
		tries->error = result;
	return true;
}

enum verdict blocked_by(const struct tries *tries)
{
	if (!tries->count)
		return skipped("nothing was planted");
	if (tries->error == -ENOENT)
		return held("not there");
	return held("%s", tries->error ? error_name(tries->error) : "nothing found");
}

bool is_refusal(long result)
{
	return result == -EPERM || result == -ENOSYS || result == -EACCES;
}

enum verdict judge_refusal(struct tries *tries, long result, const char *what)
{
	failed(tries, result);
	if (is_refusal(result))
		return blocked_by(tries);
	return leaked("%s gets through: %s", what, result < 0 ? error_name(result) : "it works");
}
