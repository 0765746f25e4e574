// SPDX-License-Identifier: MIT
// Tests of the strings in OSC, DCS and APC sequences.
#include "terminal/payload.h"

#include "base/arena.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_base64(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!is_word(text[i]) && !memchr("+/=", text[i], 3))
			return false;
	return true;
}

// Returns whether the text begins with a prefix.
static bool starts(const char *text, size_t length, const char *prefix)
{
	size_t size = strlen(prefix);

	return length >= size && memcmp(text, prefix, size) == 0;
}

int payload_number(const char *text, size_t length, size_t *ret_used)
{
	int number = 0;
	size_t i = 0;

	for (; i < length && is_digit(text[i]); i++)
		number = number > 99999 ? number : number * 10 + (text[i] - '0');
	*ret_used = i;
	return number;
}

bool payload_is_text(enum filter_form form, size_t *ret_most)
{
	*ret_most = form == FORM_TITLE ? TITLE_MAX : MESSAGE_MAX;
	return form >= FORM_TITLE && form <= FORM_MESSAGE_777;
}

// Returns the length of the valid UTF-8 character at the beginning; 0: there is none.
static size_t utf8_length(const unsigned char *s, size_t length)
{
	size_t size = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (!size || size > length)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	// Overlong forms, surrogates, and values above U+10FFFF.
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return size;
}

// Returns whether a character controls a terminal (U+0080 to U+009F) or the order and separation
// of text (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF).
static bool is_invisible(const unsigned char *s, size_t size)
{
	if (size == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	if (size != 3)
		return false;
	return (s[0] == 0xe2 && s[1] == 0x80 &&
		((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
	       (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf) ||
	       (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf);
}

size_t payload_clean(char *text, size_t length, bool utf8, size_t most)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t kept = 0;

	for (size_t i = 0; i < length;) {
		size_t size = s[i] < 0x80 ? 1 : utf8 ? utf8_length(s + i, length - i) : 0;
		bool keep = size == 1 ? s[i] >= ' ' && s[i] < 0x7f
				      : size > 1 && !is_invisible(s + i, size);

		if (keep && kept + size > most)
			break;
		if (keep) {
			memmove(text + kept, text + i, size);
			kept += size;
		}
		i += size ? size : 1;
	}
	return kept;
}

// Matches ";?" once or several times. For the palette (OSC 4), a colour number precedes each "?".
static bool is_query(int number, const char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		size_t used = 0;

		if (text[at++] != ';')
			return false;
		if (number == 4) {
			payload_number(text + at, length - at, &used);
			if (!used || at + used >= length || text[at + used++] != ';')
				return false;
		}
		at += used;
		if (at >= length || text[at++] != '?')
			return false;
	}
	return length > 0;
}

// Matches ";PARAMETERS;ADDRESS". The caller has checked that all bytes are printable.
static bool is_link(const char *text, size_t length)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	const char *address = length ? memchr(text + 1, ';', length - 1) : NULL;
	size_t rest = address ? length - (size_t)(++address - text) : 0;

	if (!address || text[0] != ';')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t j = 0;

		while (j < rest && schemes[i][j] && (address[j] | 0x20) == (schemes[i][j] | 0x20))
			j++;
		if (!schemes[i][j])
			return true;
	}
	return rest == 0;
}

// Matches ";4;STATE" or ";4;STATE;PERCENT".
static bool is_progress(const char *text, size_t length)
{
	if (!starts(text, length, ";4;") || length < 4 || text[3] < '0' || text[3] > '4')
		return false;
	if (length > 4 && text[4] != ';')
		return false;
	for (size_t i = 5; i < length; i++)
		if (!is_digit(text[i]))
			return false;
	return length < 10;
}

// Matches ";TEXT". A text that begins with a number and ";", or is only a number, is a command of
// ConEmu or Windows Terminal: one of them runs a program.
static bool is_message(const char *text, size_t length)
{
	size_t at = 1;

	if (length < 2 || text[0] != ';')
		return false;
	while (at < length && (is_digit(text[at]) || text[at] == ' '))
		at++;
	return at < length && text[at] != ';';
}

// Tests one property of a notification. Those that request a report of a click, of the end or of
// the terminal's abilities do not pass, nor does text in base64, which cannot be cleaned here.
static bool is_notification_property(const char *text, size_t length)
{
	static const char *const permitted[] = { "d=0",     "d=1",        "p=title",  "p=body",
						 "p=close", "a=focus",    "a=-focus", "u=0",
						 "u=1",     "u=2",        "o=always", "o=unfocused",
						 "e=0",     "o=invisible" };

	for (size_t i = 0; i < ARRAY_SIZE(permitted); i++)
		if (length == strlen(permitted[i]) && memcmp(text, permitted[i], length) == 0)
			return true;
	if (length < 3 || length > 64 ||
	    !(starts(text, length, "i=") || starts(text, length, "w=")))
		return false;
	for (size_t i = 2; i < length; i++)
		if (!is_word(text[i]) && !memchr("-_+.", text[i], 4))
			return false;
	return true;
}

// Matches ";PROPERTIES;TEXT", where properties are separated by ":".
static bool is_notification(const char *text, size_t length)
{
	size_t at = 1;

	if (length < 2 || text[0] != ';')
		return false;
	while (at < length && text[at] != ';') {
		size_t begin = at;

		while (at < length && text[at] != ';' && text[at] != ':')
			at++;
		if (!is_notification_property(text + begin, at - begin))
			return false;
		at += at < length && text[at] == ':';
	}
	return at < length;
}

// Matches ";SELECTIONS;DATA". "?" in place of the data would be a query of the clipboard.
static bool is_clipboard(const char *text, size_t length)
{
	size_t at = 1;

	if (length < 2 || length > CLIPBOARD_MAX || text[0] != ';')
		return false;
	while (at < length && text[at] != ';')
		if (!memchr("cpqs01234567", text[at++], 12))
			return false;
	return at < length && is_base64(text + at + 1, length - at - 1);
}

// Matches ";File=PROPERTIES:DATA" with the property "inline=1". Without it the terminal saves a
// file.
static bool is_file(const char *text, size_t length)
{
	static const char *const names[] = { "name=",   "size=",           "width=",
					     "height=", "inline=",         "preserveAspectRatio=",
					     "type=",   "doNotMoveCursor=" };
	size_t at = strlen(";File=");
	size_t shown = 0;

	if (!starts(text, length, ";File="))
		return false;
	while (at < length && text[at] != ':') {
		size_t begin = at;
		size_t i = 0;

		while (at < length && text[at] != ';' && text[at] != ':')
			at++;
		while (i < ARRAY_SIZE(names) && !starts(text + begin, at - begin, names[i]))
			i++;
		if (i == ARRAY_SIZE(names))
			return false;
		if (starts(text + begin, at - begin, "inline=")) {
			if (shown++ || at - begin != strlen("inline=1") || text[at - 1] != '1')
				return false;
		}
		at += at < length && text[at] == ';';
	}
	return shown == 1 && at < length && is_base64(text + at + 1, length - at - 1);
}

bool payload_matches(enum filter_form form, int number, const char *text, size_t length)
{
	switch (form) {
	case FORM_NONE:
		return false;
	case FORM_QUERY:
		return is_query(number, text, length);
	case FORM_LINK:
		return is_link(text, length);
	case FORM_PROGRESS:
		return is_progress(text, length);
	case FORM_TITLE:
		return length > 0 && text[0] == ';';
	case FORM_MESSAGE:
		return is_message(text, length);
	case FORM_MESSAGE_99:
		return is_notification(text, length);
	case FORM_MESSAGE_777:
		return starts(text, length, ";notify;");
	case FORM_CLIPBOARD:
		return is_clipboard(text, length);
	case FORM_FILE:
		return is_file(text, length);
	}
	return false;
}

bool payload_is_sixel(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length && (is_digit(text[at]) || text[at] == ';'))
		at++;
	if (at >= length || text[at++] != 'q')
		return false;
	// Repetition, raster, colour, two kinds of new lines, and the pixels.
	for (; at < length; at++)
		if (!is_digit(text[at]) && text[at] < '?' && !memchr("!\"#$-; ", text[at], 7))
			return false;
	return true;
}

// Tests "KEY=VALUE". The medium of the data must be the sequence itself ("d"): with a file or
// shared memory the terminal would read or remove what the agent names. The action must not be a
// query.
static bool is_kitty_property(const char *text, size_t length, bool *ret_begins)
{
	if (length < 3 || !is_word(text[0]) || text[1] != '=')
		return false;
	if ((text[0] == 't' && (length != 3 || text[2] != 'd')) ||
	    (text[0] == 'a' && (length != 3 || !memchr("tTpdfac", text[2], 7))))
		return false;
	*ret_begins |= text[0] == 'a' && (text[2] == 't' || text[2] == 'T');
	for (size_t i = 2; i < length; i++)
		if (!is_word(text[i]) && text[i] != '-')
			return false;
	return true;
}

bool payload_is_kitty_image(const char *text, size_t length, bool *ret_begins)
{
	size_t at = 1;

	*ret_begins = false;
	if (length < 1 || text[0] != 'G')
		return false;
	while (at < length && text[at] != ';') {
		size_t begin = at;

		while (at < length && text[at] != ',' && text[at] != ';')
			at++;
		if (!is_kitty_property(text + begin, at - begin, ret_begins))
			return false;
		at += at < length && text[at] == ',';
	}
	return at >= length || is_base64(text + at + 1, length - at - 1);
}

size_t payload_silence_kitty(const char *text, size_t length, char *out)
{
	size_t kept = 0;
	size_t at = 1;

	out[kept++] = 'G';
	while (at < length && text[at] != ';') {
		size_t begin = at;

		while (at < length && text[at] != ',' && text[at] != ';')
			at++;
		if (text[begin] != 'q') {
			memcpy(out + kept, text + begin, at - begin);
			kept += at - begin;
			out[kept++] = ',';
		}
		at += at < length && text[at] == ',';
	}
	memcpy(out + kept, "q=2", 3);
	kept += 3;
	memcpy(out + kept, text + at, length - at);
	return kept + length - at;
}
