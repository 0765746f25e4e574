// SPDX-License-Identifier: MIT
// The forms of the strings that may pass the terminal filter: the text of OSC, DCS and APC
// sequences.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Which forms of a sequence pass.
enum filter_form {
	FORM_NONE,
	FORM_QUERY,       // a query: "?" in place of a value
	FORM_LINK,        // a link to the web, or the end of a link
	FORM_PROGRESS,    // "4", a state and a number
	FORM_TITLE,       // a text
	FORM_MESSAGE,     // a text that is no command: "5" and "9;x" are
	FORM_MESSAGE_99,  // the properties and the text of a notification, without requests
	FORM_MESSAGE_777, // "notify", a title and a text
	FORM_CLIPBOARD,   // a selection, and data in base64
	FORM_FILE,        // an image that is shown, and not saved
};

enum {
	TITLE_MAX = 256,            // bytes of a title
	MESSAGE_MAX = 1024,         // bytes of a notification
	CLIPBOARD_MAX = 128 * 1024, // bytes of a sequence that writes the clipboard
	IMAGE_MAX = 4 * 1024 * 1024 // bytes of a sequence that draws an image, or a part of it
};

// Returns whether the form is text for people, which is cleaned; *ret_most is its largest length.
bool payload_is_text(enum filter_form form, size_t *ret_most);
// Removes control characters, invisible characters that reorder text, and bytes that are not valid
// UTF-8, and shortens the text to `most` bytes. Without `utf8`, removes all bytes from 0x80 on.
// Returns the new length.
size_t payload_clean(char *text, size_t length, bool utf8, size_t most);

// Reads a decimal number and stores how many digits it has. A number above 99999 matches no rule.
int payload_number(const char *text, size_t length, size_t *ret_used);

// Returns whether the text after the number of an OSC sequence has the form. Bytes from 0x80 on
// have been cleaned.
bool payload_matches(enum filter_form form, int number, const char *text, size_t length);

// Returns whether the text of a DCS sequence is a sixel image.
bool payload_is_sixel(const char *text, size_t length);
// Returns whether the text of an APC sequence draws an image by the kitty protocol, with its data
// in the sequence. *ret_begins is whether it begins an image.
bool payload_is_kitty_image(const char *text, size_t length, bool *ret_begins);
// Writes such a text with "q=2": the terminal sends no answer. `out` has room for `length` and 4
// more bytes. Returns the number of bytes written.
size_t payload_silence_kitty(const char *text, size_t length, char *out);
