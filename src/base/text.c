// SPDX-License-Identifier: MIT
// A growable text buffer, and small functions on strings.
#include "base/text.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

// Makes room for more bytes and the NUL.
static void reserve(struct text *text, size_t count)
{
	size_t wanted = text->capacity ? text->capacity * 2 : 256;
	char *grown;

	if (text->length + count + 1 <= text->capacity)
		return;
	while (wanted < text->length + count + 1)
		wanted *= 2;
	if (!text->data || !arena_extend(text->arena, text->data, text->capacity, wanted)) {
		grown = arena_alloc(text->arena, wanted);
		if (text->data && text->length)
			memcpy(grown, text->data, text->length);
		text->data = grown;
	}
	text->capacity = wanted;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
	reserve(text, count);
	memcpy(text->data + text->length, bytes, count);
	text->length += count;
	text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *more)
{
	text_add_bytes(text, more, strlen(more));
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_add(text, arena_vprintf(text->arena, format, args));
	va_end(args);
}

#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

size_t base64_decode(const char *base64, size_t length, unsigned char *bytes, size_t most)
{
	static const char letters[] = BASE64;
	unsigned int bits = 0;
	unsigned int count = 0;
	size_t decoded = 0;

	for (size_t i = 0; i < length && base64[i] != '=' && decoded < most; i++) {
		const char *letter = base64[i] ? strchr(letters, base64[i]) : NULL;

		if (!letter)
			return 0;
		bits = bits << 6 | (unsigned int)(letter - letters);
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes[decoded++] = (unsigned char)(bits >> count);
		}
	}
	return decoded;
}

void text_add_base64(struct text *text, const unsigned char *bytes, size_t count, size_t columns)
{
	enum { PAD = 64 };
	static const char letters[] = BASE64 "=";

	for (size_t at = 0; at < count; at += 3) {
		size_t left = count - at;
		unsigned int three = (unsigned int)bytes[at] << 16 |
				     (left > 1 ? (unsigned int)bytes[at + 1] << 8 : 0) |
				     (left > 2 ? bytes[at + 2] : 0);
		char four[] = { letters[three >> 18], letters[three >> 12 & 63],
				letters[left > 1 ? three >> 6 & 63 : PAD],
				letters[left > 2 ? three & 63 : PAD] };

		text_add_bytes(text, four, sizeof(four));
		if ((at / 3 + 1) * 4 % columns == 0 || left <= 3)
			text_add(text, "\n");
	}
}

const char *text_get(const struct text *text)
{
	return text->data ? text->data : "";
}

bool str_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *str_after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool str_starts(const char *text, const char *prefix)
{
	return str_after(text, prefix) != NULL;
}

bool str_ends(const char *text, const char *suffix)
{
	size_t length = strlen(text);
	size_t wanted = strlen(suffix);

	return length >= wanted && strcmp(text + length - wanted, suffix) == 0;
}

const char *str_next_word(struct arena *arena, const char **cursor)
{
	const char *s = *cursor + strspn(*cursor, " \t\n;&|");
	struct text out = { .arena = arena };
	char quote = 0;

	if (!*s)
		return NULL;
	for (; *s && (quote || !strchr(" \t\n;&|", *s)); s++) {
		if (*s == quote)
			quote = 0;
		else if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
		else
			text_add_bytes(&out, s, 1);
	}
	*cursor = s;
	return text_get(&out);
}

bool env_name_valid(const char *name, size_t length)
{
	if (length == 0 || (name[0] >= '0' && name[0] <= '9'))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = name[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '_'))
			return false;
	}
	return true;
}

char *str_next_line(struct arena *arena, const char **cursor)
{
	const char *start = *cursor;
	size_t length = strcspn(start, "\n");

	if (!*start)
		return NULL;
	*cursor = start + length + (start[length] == '\n');
	return arena_strndup(arena, start, length);
}

strings str_split_lines(struct arena *arena, const char *text)
{
	strings lines = { 0 };
	const char *line;

	while ((line = str_next_line(arena, &text)))
		vec_push(arena, &lines, line);
	return lines;
}
