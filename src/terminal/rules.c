// SPDX-License-Identifier: MIT
// The tables of what passes to the user's terminal and what does not, each row with its reason.
#include "terminal/rules.h"

#include "base/arena.h"
#include "base/text.h"
#include "terminal/filter.h"

#include <string.h>

#define PASS                .pass = true
#define LISTED(which, list) .parameters = PARAMETERS_##which, .listed = (list)

const struct filter_rule filter_escapes[] = {
	{ "", "78", PASS, .plain = true, .why = "saves the cursor and goes back there" },
	{ "", "DEHM69", PASS, .plain = true, .why = "moves the cursor; tab stops" },
	{ "", "=>", PASS, .why = "what the keypad's keys send" },
	{ "", "c", PASS, .why = "starts afresh" },
	{ "#", "34568", PASS, .plain = true, .why = "size of a line, test picture" },
	{ "(", "AB0", PASS, .why = "lines to draw with" },
	{ ")", "AB0", PASS, .why = "lines to draw with" },
	{ "*", "AB0", PASS, .why = "lines to draw with" },
	{ "+", "AB0", PASS, .why = "lines to draw with" },
	{ "%", "@G8", .why = "out of UTF-8: bytes would mean something else afterwards" },
	{ " ", "FGLMN", .why = "controls of one byte: the same" },
	{ "", "<", .why = "another terminal's language: the same" },
	{ "", "Z", .why = "an old form of CSI c" },
	{ "", "lm", .why = "locks a part of the screen" },
};
const size_t filter_escape_count = ARRAY_SIZE(filter_escapes);

const struct filter_rule filter_controls[] = {
	{ "", "m", PASS, .plain = true, .why = "colours" },
	{ "", "@ABCDEFGHIJKLMPSTXZ`abdefg", PASS, .plain = true,
	  .why = "moves the cursor, scrolls, inserts and removes" },
	{ "?", "JKW", PASS, .plain = true, .why = "removes what is not protected; tab stops" },
	{ " ", "@A", PASS, .plain = true, .why = "scrolls sideways" },
	{ "$", "rtvxz{", PASS, .plain = true, .why = "fills, copies and colours a rectangle" },
	{ "*", "x", PASS, .plain = true, .why = "what a rectangle is" },
	{ "\"", "q", PASS, .plain = true, .why = "protects text" },
	{ "#", "{}pq", PASS, .plain = true, .why = "keeps the colours and brings them back" },
	{ "", "su", PASS, .plain = true, .why = "saves the cursor and goes back there" },
	{ "", "r", PASS, .why = "the region that scrolls" },
	{ " ", "q", PASS, .why = "the cursor's shape" },
	{ "!", "p", PASS, .why = "modes as they were at first" },
	{ "", "hl", PASS, .why = "insert, new line", LISTED(ALL, "4 20") },
	{ "?", "hlsr", PASS,
	  .why = "keys, wrapping, cursor, mouse, focus, pasting, the other screen, updates in one piece",
	  LISTED(ALL,
		 "1 4 5 6 7 8 9 12 25 45 47 66 67 69 1000 1002 1003 1004 1005 1006 1007 1015 1016 "
		 "1036 1039 1045 1047 1048 1049 2004 2026 2027 2031 2048") },
	{ "?", "hlsr",
	  .why = "logs to a file, other languages (VT52, Tektronix), keyboard lock, unknown" },
	{ "", "hl", .why = "locks the keyboard, unknown" },
	{ "<", "u", PASS, .why = "what keys send" },
	{ "=", "u", PASS, .why = "what keys send" },
	{ ">", "umnf", PASS, .why = "what keys send" },
	{ "?", "um", PASS, .why = "asks what keys send" },
	{ "", "n", PASS, .why = "asks whether it is there, and where the cursor is",
	  LISTED(ALL, "5 6") },
	{ "?", "n", PASS, .why = "asks where the cursor is, and whether it is dark",
	  LISTED(ALL, "6 996") },
	{ "", "c", PASS, .why = "asks what it can do", LISTED(ALL, "0") },
	{ ">", "c", PASS, .why = "asks what it can do", LISTED(ALL, "0") },
	{ ">", "q", PASS, .why = "asks for its name", LISTED(ALL, "0") },
	{ "$", "p", PASS, .why = "asks for a mode" },
	{ "?$", "p", PASS, .why = "asks for a mode" },
	{ "", "t", PASS, .why = "asks for sizes", LISTED(FIRST, "14 16 18") },
	{ "", "t", .why = "moves, resizes and hides the window; has its title typed in" },
	{ "", "i", .why = "prints" },
	{ "?", "i", .why = "prints" },
	{ "*", "y", .why = "reads the screen, also what was there before" },
	{ "$", "wu", .why = "reports whose form differs" },
	{ "\"", "p", .why = "another level of the language" },
	{ "=", "c", .why = "asks for the unit's number" },
	{ "", "q", .why = "the keyboard's lights" },
	{ "", "xy", .why = "tests the terminal" },
	{ ">", "tTps", .why = "how titles and the pointer are set" },
	{ "#", "PQRS", .why = "replaces all colours" },
	{ "'", "wz{|", .why = "an old form of the mouse" },
};
const size_t filter_control_count = ARRAY_SIZE(filter_controls);

const struct filter_command filter_commands[] = {
	{ 0, FORM_NONE, "title and icon: text outside of the box's screen" },
	{ 1, FORM_NONE, "the same" },
	{ 2, FORM_NONE, "the same" },
	{ 4, FORM_QUERY, "a colour of the palette: it would stay" },
	{ 5, FORM_NONE, "a special colour: the same" },
	{ 7, FORM_NONE, "the directory that the next window opens in" },
	{ 8, FORM_LINK, "a link; one to a local file or program could start it" },
	{ 9, FORM_PROGRESS, "notifications, and commands to some terminals" },
	{ 10, FORM_QUERY, "the text's colour: it would stay" },
	{ 11, FORM_QUERY, "the background's: the same" },
	{ 12, FORM_QUERY, "the cursor's: the same" },
	{ 22, FORM_NONE, "the pointer's shape" },
	{ 46, FORM_NONE, "a log file" },
	{ 50, FORM_NONE, "the font, by name" },
	{ 51, FORM_NONE, "commands to an editor" },
	{ 52, FORM_NONE, "the clipboard: what you paste next, and what you copied" },
	{ 99, FORM_NONE, "notifications" },
	{ 133, FORM_NONE, "where the shell's prompt is" },
	{ 633, FORM_NONE, "the same, with the command line that would be run again" },
	{ 777, FORM_NONE, "notifications" },
	{ 1337, FORM_NONE, "files to and from the machine, clipboard" },
	{ 5522, FORM_NONE, "the clipboard" },
};
const size_t filter_command_count = ARRAY_SIZE(filter_commands);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// Reads digits; more than a small number is none.
static int number_of(const char *text, size_t length, size_t *ret_used)
{
	int number = 0;
	size_t i = 0;

	for (; i < length && is_digit(text[i]); i++)
		number = number > 99999 ? number : number * 10 + (text[i] - '0');
	*ret_used = i;
	return number;
}

static bool is_listed(int number, const char *list)
{
	while (*list) {
		size_t used;

		if (number_of(list, strlen(list), &used) == number)
			return true;
		list += used + (list[used] == ' ');
	}
	return false;
}

static bool parameters_fit(const struct filter_rule *rule, const char *text, size_t length)
{
	size_t at = 0;

	if (rule->parameters == PARAMETERS_ANY)
		return true;
	do {
		size_t used;
		int number = number_of(text + at, length - at, &used);

		at += used;
		if ((at < length && text[at] != ';') || !is_listed(number, rule->listed))
			return false;
		if (rule->parameters == PARAMETERS_FIRST)
			return true;
	} while (at++ < length);
	return true;
}

// The first row for these bytes decides.
static bool rules_pass(const struct filter_rule *rules, size_t count, const char *before, char last,
		       const char *parameters, size_t length, bool *ret_plain)
{
	for (size_t i = 0; i < count; i++) {
		const struct filter_rule *rule = &rules[i];

		if (!str_equal(rule->before, before) || !strchr(rule->finals, last) ||
		    !parameters_fit(rule, parameters, length))
			continue;
		*ret_plain = rule->plain;
		return rule->pass;
	}
	return false;
}

bool filter_escape_passes(const char *sequence, size_t length, bool *ret_plain)
{
	char before[2] = "";

	if (length < 2 || length > 3)
		return false;
	if (length == 3)
		before[0] = sequence[1];
	return rules_pass(filter_escapes, filter_escape_count, before, sequence[length - 1], "", 0,
			  ret_plain);
}

bool filter_control_passes(const char *sequence, size_t length, bool *ret_plain)
{
	char before[3] = "";
	size_t kept = 0;
	size_t at = 2;
	size_t end;

	if (length < 3)
		return false;
	if (sequence[at] >= '<' && sequence[at] <= '?')
		before[kept++] = sequence[at++];
	for (end = at; is_digit(sequence[end]) || sequence[end] == ';' || sequence[end] == ':';)
		end++;
	for (size_t i = end; i + 1 < length; i++) {
		if (sequence[i] >= '0' || kept + 1 >= sizeof(before)) // out of order, or too many
			return false;
		before[kept++] = sequence[i];
	}
	return rules_pass(filter_controls, filter_control_count, before, sequence[length - 1],
			  sequence + at, end - at, ret_plain);
}

// ";?" for one value after the other; those of the palette have their numbers before.
static bool is_query(int number, const char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		size_t used = 0;

		if (text[at++] != ';')
			return false;
		if (number == 4) {
			number_of(text + at, length - at, &used);
			if (!used || at + used >= length || text[at + used++] != ';')
				return false;
		}
		at += used;
		if (at >= length || text[at++] != '?')
			return false;
	}
	return length > 0;
}

// ";parameters;address", printable already.
static bool is_link(const char *text, size_t length, bool *ret_plain)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	const char *address = length ? memchr(text + 1, ';', length - 1) : NULL;
	size_t rest = address ? length - (size_t)(++address - text) : 0;

	*ret_plain = false;
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

// ";4;STATE" or ";4;STATE;PERCENT".
static bool is_progress(const char *text, size_t length)
{
	if (length < 4 || memcmp(text, ";4;", 3) != 0 || text[3] < '0' || text[3] > '4')
		return false;
	if (length > 4 && text[4] != ';')
		return false;
	for (size_t i = 5; i < length; i++)
		if (!is_digit(text[i]))
			return false;
	return length < 10;
}

bool filter_command_passes(const char *payload, size_t length, bool *ret_plain)
{
	size_t used;
	int number = number_of(payload, length, &used);

	*ret_plain = false;
	for (size_t i = 0; used && i < filter_command_count; i++) {
		if (filter_commands[i].number != number)
			continue;
		switch (filter_commands[i].form) {
		case FORM_NONE:
			return false;
		case FORM_QUERY:
			return is_query(number, payload + used, length - used);
		case FORM_LINK:
			return is_link(payload + used, length - used, ret_plain);
		case FORM_PROGRESS:
			return is_progress(payload + used, length - used);
		}
	}
	return false;
}
