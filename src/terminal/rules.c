// SPDX-License-Identifier: MIT
// Tables of the terminal filter: which escape sequences pass, each row with its reason.
#include "terminal/rules.h"

#include "base/arena.h"
#include "base/text.h"
#include "terminal/filter.h"

#include <string.h>

#define PASS                .pass = true
#define LISTED(which, list) .parameters = PARAMETERS_##which, .listed = (list)

const struct filter_rule filter_escape_rules[] = {
	{ "", "78", PASS, .stateless = true, .reason = "saves and restores the cursor" },
	{ "", "DEHM69", PASS, .stateless = true, .reason = "moves the cursor, sets tab stops" },
	{ "", "=>", PASS, .reason = "sets what the keypad sends" },
	{ "", "c", PASS, .reason = "resets the terminal" },
	{ "#", "34568", PASS, .stateless = true,
	  .reason = "sets the size of a line, shows the test pattern" },
	{ "(", "AB0", PASS, .reason = "selects a character set, for line drawing" },
	{ ")", "AB0", PASS, .reason = "selects a character set, for line drawing" },
	{ "*", "AB0", PASS, .reason = "selects a character set, for line drawing" },
	{ "+", "AB0", PASS, .reason = "selects a character set, for line drawing" },
	{ "%", "@G8", .reason = "selects or leaves UTF-8: later bytes would be read differently" },
	{ " ", "FGLMN",
	  .reason = "selects the form of C1 controls: later bytes would be read differently" },
	{ "", "<", .reason = "leaves VT52 mode: later bytes would be read differently" },
	{ "", "Z", .reason = "requests the device attributes, an old form of CSI c" },
	{ "", "lm", .reason = "locks a part of the screen memory" },
};
const size_t filter_escape_rule_count = ARRAY_SIZE(filter_escape_rules);

const struct filter_rule filter_csi_rules[] = {
	{ "", "m", PASS, .stateless = true, .reason = "sets colours and attributes" },
	{ "", "@ABCDEFGHIJKLMPSTXZ`abdefg", PASS, .stateless = true,
	  .reason = "moves the cursor, scrolls, inserts, erases" },
	{ "?", "JKW", PASS, .stateless = true,
	  .reason = "erases unprotected text, sets tab stops" },
	{ " ", "@A", PASS, .stateless = true, .reason = "scrolls horizontally" },
	{ "$", "rtvxz{", PASS, .stateless = true,
	  .reason = "fills, copies, erases a rectangle, changes its attributes" },
	{ "*", "x", PASS, .stateless = true, .reason = "selects the extent of attribute changes" },
	{ "\"", "q", PASS, .stateless = true, .reason = "protects text from erasure" },
	{ "#", "{}pq", PASS, .stateless = true, .reason = "saves and restores colours" },
	{ "", "su", PASS, .stateless = true, .reason = "saves and restores the cursor" },
	{ "", "r", PASS, .reason = "sets the scrolling region" },
	{ " ", "q", PASS, .reason = "sets the cursor shape" },
	{ "!", "p", PASS, .reason = "soft reset" },
	{ "", "hl", PASS, .reason = "insert mode, newline mode", LISTED(ALL, "4 20") },
	{ "?", "hlsr", PASS,
	  .reason =
		  "keys, wrapping, cursor, mouse, focus, paste, alternate screen, synchronized updates",
	  LISTED(ALL,
		 "1 4 5 6 7 8 9 12 25 45 47 66 67 69 1000 1002 1003 1004 1005 1006 1007 1015 1016 "
		 "1036 1039 1045 1047 1048 1049 2004 2026 2027 2031 2048") },
	{ "?", "hlsr",
	  .reason =
		  "logging to a file, other modes (VT52, Tektronix), keyboard lock, unknown modes" },
	{ "", "hl", .reason = "keyboard lock, unknown modes" },
	{ "<", "u", PASS, .reason = "sets what keys send" },
	{ "=", "u", PASS, .reason = "sets what keys send" },
	{ ">", "umnf", PASS, .reason = "sets what keys send" },
	{ "?", "um", PASS, .reason = "queries what keys send" },
	{ "", "n", PASS, .reason = "queries the status and the cursor position",
	  LISTED(ALL, "5 6") },
	{ "?", "n", PASS, .reason = "queries the cursor position and the colour scheme",
	  LISTED(ALL, "6 996") },
	{ "", "c", PASS, .reason = "queries the device attributes", LISTED(ALL, "0") },
	{ ">", "c", PASS, .reason = "queries the device attributes", LISTED(ALL, "0") },
	{ ">", "q", PASS, .reason = "queries the terminal's name", LISTED(ALL, "0") },
	{ "$", "p", PASS, .reason = "queries a mode" },
	{ "?$", "p", PASS, .reason = "queries a mode" },
	{ "", "t", PASS, .reason = "queries sizes", LISTED(FIRST, "14 16 18") },
	{ "", "t", .reason = "moves, resizes, hides the window; its title would become input" },
	{ "", "i", .reason = "prints" },
	{ "?", "i", .reason = "prints" },
	{ "*", "y", .reason = "checksums of the screen, also of text from before the box" },
	{ "$", "wu", .reason = "requests reports that differ between terminals" },
	{ "\"", "p", .reason = "selects the conformance level" },
	{ "=", "c", .reason = "requests the unit id" },
	{ "", "q", .reason = "sets the keyboard LEDs" },
	{ "", "xy", .reason = "tests the terminal" },
	{ ">", "tTps", .reason = "sets how titles and the pointer are changed" },
	{ "#", "PQRS", .reason = "replaces the colour palette" },
	{ "'", "wz{|", .reason = "DEC locator, an old mouse protocol" },
};
const size_t filter_csi_rule_count = ARRAY_SIZE(filter_csi_rules);

const struct filter_osc_rule filter_osc_rules[] = {
	{ 0, FORM_NONE, "window title and icon name: text outside the screen" },
	{ 1, FORM_NONE, "icon name" },
	{ 2, FORM_NONE, "window title" },
	{ 4, FORM_QUERY, "a colour of the palette: a change would stay" },
	{ 5, FORM_NONE, "a special colour: a change would stay" },
	{ 7, FORM_NONE, "the working directory of the next window" },
	{ 8, FORM_LINK, "a link; one to a local file could start a program" },
	{ 9, FORM_PROGRESS, "notifications, commands of some terminals" },
	{ 10, FORM_QUERY, "the text colour: a change would stay" },
	{ 11, FORM_QUERY, "the background colour: a change would stay" },
	{ 12, FORM_QUERY, "the cursor colour: a change would stay" },
	{ 22, FORM_NONE, "the pointer shape" },
	{ 46, FORM_NONE, "the log file" },
	{ 50, FORM_NONE, "the font" },
	{ 51, FORM_NONE, "commands to Vim" },
	{ 52, FORM_NONE, "the clipboard: the next paste, and the last copy" },
	{ 99, FORM_NONE, "notifications" },
	{ 133, FORM_NONE, "marks of the shell prompt" },
	{ 633, FORM_NONE, "marks of the shell prompt, with a command line that can be run again" },
	{ 777, FORM_NONE, "notifications" },
	{ 1337, FORM_NONE, "file transfer, clipboard" },
	{ 5522, FORM_NONE, "the clipboard" },
};
const size_t filter_osc_rule_count = ARRAY_SIZE(filter_osc_rules);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// Reads a decimal number and stores how many digits it has. A number above 99999 matches no rule.
static int parse_number(const char *text, size_t length, size_t *ret_used)
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

		if (parse_number(list, strlen(list), &used) == number)
			return true;
		list += used + (list[used] == ' ');
	}
	return false;
}

// Returns whether the rule applies to these parameters, as "1;2".
static bool parameters_match(const struct filter_rule *rule, const char *text, size_t length)
{
	size_t at = 0;

	if (rule->parameters == PARAMETERS_ANY)
		return true;
	do {
		size_t used;
		int number = parse_number(text + at, length - at, &used);

		at += used;
		if ((at < length && text[at] != ';') || !is_listed(number, rule->listed))
			return false;
		if (rule->parameters == PARAMETERS_FIRST)
			return true;
	} while (at++ < length);
	return true;
}

// Looks a sequence up: the first rule that matches decides, and without one the sequence does not
// pass.
static bool rules_pass(const struct filter_rule *rules, size_t count, const char *intermediates,
		       char final, const char *parameters, size_t length, bool *ret_stateless)
{
	for (size_t i = 0; i < count; i++) {
		const struct filter_rule *rule = &rules[i];

		if (!str_equal(rule->intermediates, intermediates) ||
		    !strchr(rule->finals, final) || !parameters_match(rule, parameters, length))
			continue;
		*ret_stateless = rule->stateless;
		return rule->pass;
	}
	return false;
}

bool filter_escape_passes(const char *sequence, size_t length, bool *ret_stateless)
{
	char intermediates[2] = "";

	if (length < 2 || length > 3)
		return false;
	if (length == 3)
		intermediates[0] = sequence[1];
	return rules_pass(filter_escape_rules, filter_escape_rule_count, intermediates,
			  sequence[length - 1], "", 0, ret_stateless);
}

bool filter_csi_passes(const char *sequence, size_t length, bool *ret_stateless)
{
	char intermediates[3] = "";
	size_t count = 0;
	size_t at = 2;
	size_t end;

	if (length < 3)
		return false;
	if (sequence[at] >= '<' && sequence[at] <= '?')
		intermediates[count++] = sequence[at++];
	for (end = at; is_digit(sequence[end]) || sequence[end] == ';' || sequence[end] == ':';)
		end++;
	for (size_t i = end; i + 1 < length; i++) {
		if (sequence[i] >= '0' ||
		    count + 1 >= sizeof(intermediates)) // out of order, or too many
			return false;
		intermediates[count++] = sequence[i];
	}
	return rules_pass(filter_csi_rules, filter_csi_rule_count, intermediates,
			  sequence[length - 1], sequence + at, end - at, ret_stateless);
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
			parse_number(text + at, length - at, &used);
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
static bool is_link(const char *text, size_t length, bool *ret_stateless)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	const char *address = length ? memchr(text + 1, ';', length - 1) : NULL;
	size_t rest = address ? length - (size_t)(++address - text) : 0;

	*ret_stateless = false;
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
	if (length < 4 || memcmp(text, ";4;", 3) != 0 || text[3] < '0' || text[3] > '4')
		return false;
	if (length > 4 && text[4] != ';')
		return false;
	for (size_t i = 5; i < length; i++)
		if (!is_digit(text[i]))
			return false;
	return length < 10;
}

bool filter_osc_passes(const char *payload, size_t length, bool *ret_stateless)
{
	size_t used;
	int number = parse_number(payload, length, &used);

	*ret_stateless = false;
	for (size_t i = 0; used && i < filter_osc_rule_count; i++) {
		if (filter_osc_rules[i].number != number)
			continue;
		switch (filter_osc_rules[i].form) {
		case FORM_NONE:
			return false;
		case FORM_QUERY:
			return is_query(number, payload + used, length - used);
		case FORM_LINK:
			return is_link(payload + used, length - used, ret_stateless);
		case FORM_PROGRESS:
			return is_progress(payload + used, length - used);
		}
	}
	return false;
}
