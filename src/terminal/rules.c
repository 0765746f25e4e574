// SPDX-License-Identifier: MIT
// Tables of the terminal filter: which escape sequences pass, each row with its reason.
#include "terminal/rules.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "terminal/modes.h"

#include <string.h>

#define PASS                .pass = true
#define TITLE               TERMINAL_BIT(TERMINAL_TITLE)
#define NOTIFY              TERMINAL_BIT(TERMINAL_NOTIFY)
#define CLIPBOARD           TERMINAL_BIT(TERMINAL_CLIPBOARD)
#define IMAGES              TERMINAL_BIT(TERMINAL_IMAGES)
#define QUERY               .pass = true, .query = true
#define LISTED(which, list) .parameters = PARAMETERS_##which, .listed = (list)

const struct filter_rule filter_escape_rules[] = {
	{ "", "78", PASS, .stateless = true, .reason = "saves and restores the cursor" },
	{ "", "DEM69", PASS, .stateless = true, .reason = "moves the cursor" },
	{ "", "H", PASS, .reason = "sets a tab stop", .reset = "[?5W" },
	{ "", "=>", PASS, .input = true, .reason = "sets what the keypad sends", .reset = "\033>" },
	{ "", "c", PASS, .reason = "resets the terminal", .reset = "" },
	{ "#", "34568", PASS, .stateless = true,
	  .reason = "sets the size of a line, shows the test pattern" },
	{ "(", "AB0", PASS, .reason = "selects a character set, for line drawing",
	  .reset = "\033(B" },
	{ ")", "AB0", PASS, .reason = "selects a character set, for line drawing",
	  .reset = "\033)B" },
	{ "*", "AB0", PASS, .stateless = true,
	  .reason = "names a character set, which no permitted sequence selects" },
	{ "+", "AB0", PASS, .stateless = true,
	  .reason = "names a character set, which no permitted sequence selects" },
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
	{ "", "@ABCDEFGHIJKLMPSTXZ`abdef", PASS, .stateless = true,
	  .reason = "moves the cursor, scrolls, inserts, erases" },
	{ "", "g", PASS, .reason = "clears tab stops", .reset = "[?5W" },
	{ "?", "W", PASS, .reason = "sets tab stops", .reset = "[?5W" },
	{ "?", "JK", PASS, .stateless = true, .reason = "erases unprotected text" },
	{ " ", "@A", PASS, .stateless = true, .reason = "scrolls horizontally" },
	{ "$", "rtvxz{", PASS, .stateless = true,
	  .reason = "fills, copies, erases a rectangle, changes its attributes" },
	{ "*", "x", PASS, .stateless = true, .reason = "selects the extent of attribute changes" },
	{ "\"", "q", PASS, .stateless = true, .reason = "protects text from erasure" },
	{ "#", "{}pq", PASS, .stateless = true, .reason = "saves and restores colours" },
	{ "", "su", PASS, .stateless = true, .reason = "saves and restores the cursor" },
	{ "", "r", PASS, .reason = "sets the scrolling region", .reset = "[r" },
	{ " ", "q", PASS, .reason = "sets the cursor shape; the shape from before is unknown",
	  .reset = "" },
	{ "!", "p", PASS, .reason = "soft reset", .reset = "" },
	{ "", "hl", PASS, .reason = "sets modes", .parameters = PARAMETERS_MODES },
	{ "?", "hl", PASS, .reason = "sets modes", .parameters = PARAMETERS_MODES },
	{ "?", "hlsr",
	  .reason = "logging to a file, other modes (VT52, Tektronix), keyboard lock, modes that "
		    "cannot be reset, unknown modes" },
	{ "", "hl", .reason = "keyboard lock, unknown modes" },
	{ "<", "u", PASS, .input = true, .reason = "sets what keys send", .reset = "[<99u" },
	{ "=", "u", PASS, .input = true, .reason = "sets what keys send", .reset = "[<99u" },
	{ ">", "u", PASS, .input = true, .reason = "sets what keys send", .reset = "[<99u" },
	{ ">", "mn", PASS, .input = true, .reason = "sets what keys send with modifiers",
	  LISTED(FIRST, "4"), .reset = "[>4;0m" },
	{ ">", "mnf", .reason = "sets what cursor and function keys send: cannot be reset" },
	{ "?", "um", QUERY, .reason = "queries what keys send" },
	{ "", "n", QUERY, .reason = "queries the status and the cursor position",
	  LISTED(ALL, "5 6") },
	{ "?", "n", QUERY, .reason = "queries the cursor position and the colour scheme",
	  LISTED(ALL, "6 996") },
	{ "", "c", QUERY, .reason = "queries the device attributes", LISTED(ALL, "0") },
	{ ">", "c", QUERY, .reason = "queries the device attributes", LISTED(ALL, "0") },
	{ ">", "q", QUERY, .reason = "queries the terminal's name", LISTED(ALL, "0") },
	{ "$", "p", QUERY, .reason = "queries a mode" },
	{ "?$", "p", QUERY, .reason = "queries a mode" },
	{ "", "t", QUERY, .reason = "queries sizes", LISTED(FIRST, "14 16 18") },
	{ "", "t", PASS, .stateless = true, .needs = TITLE,
	  .reason = "saves and restores the title", LISTED(FIRST, "22 23") },
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
	{ 0, FORM_TITLE, "window title and icon name", .needs = TITLE, .stateless = true },
	{ 1, FORM_TITLE, "icon name", .needs = TITLE, .stateless = true },
	{ 2, FORM_TITLE, "window title", .needs = TITLE, .stateless = true },
	{ 4, FORM_QUERY, "a colour of the palette: a change would stay", .query = true },
	{ 5, FORM_NONE, "a special colour: a change would stay" },
	{ 7, FORM_NONE, "the working directory of the next window" },
	{ 8, FORM_LINK, "a link; one to a local file could start a program", .reset = "]8;;" },
	{ 9, FORM_PROGRESS, "a progress bar", .stateless = true },
	{ 9, FORM_MESSAGE, "a notification; other forms are commands of some terminals",
	  .needs = NOTIFY, .stateless = true },
	{ 10, FORM_QUERY, "the text colour: a change would stay", .query = true },
	{ 11, FORM_QUERY, "the background colour: a change would stay", .query = true },
	{ 12, FORM_QUERY, "the cursor colour: a change would stay", .query = true },
	{ 22, FORM_NONE, "the pointer shape" },
	{ 46, FORM_NONE, "the log file" },
	{ 50, FORM_NONE, "the font" },
	{ 51, FORM_NONE, "commands to Vim" },
	{ 52, FORM_CLIPBOARD, "writes the clipboard; a query would send its content to the box",
	  .needs = CLIPBOARD, .stateless = true },
	{ 99, FORM_MESSAGE_99, "a notification; a report of a click would become input",
	  .needs = NOTIFY, .stateless = true },
	{ 133, FORM_NONE, "marks of the shell prompt" },
	{ 633, FORM_NONE, "marks of the shell prompt, with a command line that can be run again" },
	{ 777, FORM_MESSAGE_777, "a notification; other forms are commands", .needs = NOTIFY,
	  .stateless = true },
	{ 1337, FORM_FILE, "an image; other forms are file transfer, clipboard, commands",
	  .needs = IMAGES, .stateless = true },
	{ 5522, FORM_NONE, "the clipboard" },
};
const size_t filter_osc_rule_count = ARRAY_SIZE(filter_osc_rules);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_listed(int number, const char *list)
{
	while (*list) {
		size_t used;

		if (payload_number(list, strlen(list), &used) == number)
			return true;
		list += used + (list[used] == ' ');
	}
	return false;
}

// Returns whether one of the modes changes what the terminal sends.
static bool is_input(const struct filter_rule *rule, const char *text, size_t length)
{
	struct mode_record modes = { 0 };

	if (rule->parameters == PARAMETERS_MODES)
		mode_record_add(&modes, rule->intermediates[0] == '?', true, text, length);
	return rule->input || modes.touched & terminal_modes_input();
}

static bool parameter_matches(const struct filter_rule *rule, int number)
{
	if (rule->parameters != PARAMETERS_MODES)
		return is_listed(number, rule->listed);
	return terminal_mode_find(rule->intermediates[0] == '?', number) < terminal_mode_count;
}

// Returns whether the rule applies to these parameters, as "1;2".
static bool parameters_match(const struct filter_rule *rule, const char *text, size_t length)
{
	size_t at = 0;

	if (rule->parameters == PARAMETERS_ANY)
		return true;
	do {
		size_t used;
		int number = payload_number(text + at, length - at, &used);

		at += used;
		if ((at < length && text[at] != ';') || !parameter_matches(rule, number))
			return false;
		if (rule->parameters == PARAMETERS_FIRST)
			return true;
	} while (at++ < length);
	return true;
}

static unsigned int count_of(char byte, const char *text, size_t length)
{
	unsigned int count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == byte;
	return count;
}

// Looks a sequence up: the first rule that matches decides, and without one the sequence does not
// pass.
static struct filter_result find_rule(const struct filter_rule *rules, size_t count,
				      const char *intermediates, char final, const char *parameters,
				      size_t length)
{
	for (size_t i = 0; i < count; i++) {
		const struct filter_rule *rule = &rules[i];

		if (str_equal(rule->intermediates, intermediates) && strchr(rule->finals, final) &&
		    parameters_match(rule, parameters, length))
			return (struct filter_result){
				.pass = rule->pass,
				.stateless = rule->stateless,
				.query = rule->query ? 1 + count_of(';', parameters, length) : 0,
				.input = is_input(rule, parameters, length),
				.needs = rule->needs,
				.reset = rule->reset
			};
	}
	return (struct filter_result){ 0 };
}

struct filter_result filter_escape(const char *sequence, size_t length)
{
	char intermediates[2] = "";

	if (length < 2 || length > 3)
		return (struct filter_result){ 0 };
	if (length == 3)
		intermediates[0] = sequence[1];
	return find_rule(filter_escape_rules, filter_escape_rule_count, intermediates,
			 sequence[length - 1], "", 0);
}

struct filter_result filter_csi(const char *sequence, size_t length)
{
	char intermediates[3] = "";
	size_t count = 0;
	size_t at = 2;
	size_t end;

	if (length < 3)
		return (struct filter_result){ 0 };
	if (sequence[at] >= '<' && sequence[at] <= '?')
		intermediates[count++] = sequence[at++];
	for (end = at; is_digit(sequence[end]) || sequence[end] == ';' || sequence[end] == ':';)
		end++;
	for (size_t i = end; i + 1 < length; i++) {
		if (sequence[i] >= '0' ||
		    count + 1 >= sizeof(intermediates)) // out of order, or too many
			return (struct filter_result){ 0 };
		intermediates[count++] = sequence[i];
	}
	return find_rule(filter_csi_rules, filter_csi_rule_count, intermediates,
			 sequence[length - 1], sequence + at, end - at);
}

struct filter_result filter_osc(const char *payload, size_t length)
{
	size_t used;
	int number = payload_number(payload, length, &used);

	for (size_t i = 0; used && i < filter_osc_rule_count; i++) {
		const struct filter_osc_rule *rule = &filter_osc_rules[i];

		if (rule->number == number &&
		    payload_matches(rule->form, number, payload + used, length - used))
			return (struct filter_result){
				.pass = true,
				.stateless = rule->stateless,
				.query = rule->query ? count_of('?', payload, length) : 0,
				.needs = rule->needs,
				.reset = rule->reset
			};
	}
	return (struct filter_result){ 0 };
}

bool filter_osc_is_text(const char *payload, size_t length, size_t *ret_most)
{
	size_t used;
	int number = payload_number(payload, length, &used);

	// Without the ";", the bytes that are removed could be followed by further digits.
	if (!used || used >= length || payload[used] != ';')
		return false;
	for (size_t i = 0; i < filter_osc_rule_count; i++)
		if (filter_osc_rules[i].number == number &&
		    payload_is_text(filter_osc_rules[i].form, ret_most))
			return true;
	return false;
}

struct filter_result filter_dcs(const char *payload, size_t length)
{
	return (struct filter_result){ .pass = payload_is_sixel(payload, length),
				       .stateless = true,
				       .needs = IMAGES };
}

struct filter_result filter_apc(const char *payload, size_t length)
{
	bool begins;
	bool pass = payload_is_kitty_image(payload, length, &begins);

	return (struct filter_result){
		.pass = pass, .stateless = true, .part = !begins, .needs = IMAGES
	};
}
