// SPDX-License-Identifier: MIT
// Fuzzes the terminal filter: the result does not depend on how the input is split, contains only
// what the tables allow, and does not change when it is filtered again.
#include "fuzz.h"
#include "terminal/filter.h"
#include "terminal/rules.h"

enum { LARGE = 8192 };

// Filters the input in pieces whose size depends on the first byte, each with exactly the
// documented room.
static char *run(const char *data, size_t size, unsigned int pieces, bool utf8, size_t *ret_length)
{
	static char large[LARGE];
	struct terminal_filter filter = {
		.utf8 = utf8, .allowed = ~0U, .large = large, .large_size = sizeof(large)
	};
	char *all = malloc(FILTER_OUTPUT_MAX(LARGE, size) + 1);
	size_t length = 0;
	size_t at = 0;

	while (at < size) {
		size_t count = pieces ? 1 + (at * pieces + pieces) % 37 : size;
		char *room;
		size_t got;

		count = count < size - at ? count : size - at;
		room = malloc(FILTER_OUTPUT_MAX(LARGE, count));
		got = terminal_filter(&filter, data + at, count, room);
		MUST(got <= FILTER_OUTPUT_MAX(LARGE, count) &&
		     length + got <= FILTER_OUTPUT_MAX(LARGE, size));
		memcpy(all + length, room, got);
		free(room);
		length += got;
		at += count;
	}
	*ret_length = length;
	return all;
}

// Checks as a terminal would parse: each ESC begins a complete sequence that the tables allow.
static void check_sequences(const char *text, size_t length, bool utf8)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		size_t end = i + 2;

		MUST(byte != 0x05 && byte != 0x7f &&
		     (byte >= ' ' || strchr("\a\b\t\n\v\f\r\016\017\033", byte)));
		MUST(utf8 || byte < 0x80 || byte > 0x9f);
		MUST(!utf8 || byte != 0xc2 || i + 1 >= length ||
		     (unsigned char)text[i + 1] >= 0xa0);
		if (byte != 0x1b)
			continue;
		MUST(i + 1 < length && !strchr("X^k", text[i + 1]));
		if (strchr("]P_", text[i + 1])) {
			while (end < length && text[end] != '\a' && text[end] != '\033')
				end++;
			MUST(end < length && (text[end] == '\033' || text[i + 1] == ']'));
			MUST((text[i + 1] == ']'   ? filter_osc
			      : text[i + 1] == 'P' ? filter_dcs
						   : filter_apc)(text + i + 2, end - i - 2)
				     .pass);
			i = end + (text[end] == '\033');
		} else if (text[i + 1] == '[') {
			while (end < length && text[end] < '@')
				end++;
			MUST(end < length && filter_csi(text + i, end - i + 1).pass);
			i = end;
		} else {
			end = i + 1;
			while (end < length && text[end] < '0')
				end++;
			MUST(end < length && filter_escape(text + i, end - i + 1).pass);
			i = end;
		}
	}
}

static void try(const char *data, size_t size, unsigned int pieces, bool utf8)
{
	size_t length;
	size_t other_length;
	char *whole = run(data, size, 0, utf8, &length);
	char *other = run(data, size, pieces, utf8, &other_length);

	MUST(length == other_length && memcmp(whole, other, length) == 0);
	check_sequences(whole, length, utf8);
	free(other);
	other = run(whole, length, 0, utf8, &other_length);
	MUST(length == other_length && memcmp(whole, other, length) == 0);
	free(other);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	try((const char *)data + 1, size - 1, data[0] | 1U, true);
	try((const char *)data + 1, size - 1, data[0] | 1U, false);
	return 0;
}
