// SPDX-License-Identifier: MIT
// Prints results, messages and errors for a terminal or for a program.
#include "sys/output.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/text.h"
#include "sys/write.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// For a terminal of unknown size, such as a serial line.
enum { DEFAULT_COLUMNS = 80, DEFAULT_ROWS = 24 };

// Decides as the C library does, except that the locale need not be installed.
static bool locale_is_ascii(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return !strcasestr(value, "utf-8") && !strcasestr(value, "utf8");
	}
	return true;
}

struct reader output_reader(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	struct reader reader = { .terminal = isatty(fd), .ascii = locale_is_ascii() };
	struct winsize size = { 0 };

	if (!reader.terminal)
		return reader;
	reader.escapes = term && *term && !str_equal(term, "dumb");
	reader.colour = reader.escapes && !(no_color && *no_color);
	ioctl(fd, TIOCGWINSZ, &size);
	reader.columns = size.ws_col ? size.ws_col : DEFAULT_COLUMNS;
	reader.rows = size.ws_row ? size.ws_row : DEFAULT_ROWS;
	return reader;
}

bool output_print(int fd, const char *text, struct error *error)
{
	if (write_all(fd, text, strlen(text)))
		return true;
	error_set(error, "cannot write the result: %s", strerror(errno));
	return error_hint(error, "check the destination of the output: is the disk full?");
}

// Adds a carriage return before each newline if the terminal does not: the agent may have set raw
// mode.
static const char *add_carriage_returns(struct arena *arena, const char *text)
{
	struct termios mode;
	struct text out = { .arena = arena };

	if (tcgetattr(STDERR_FILENO, &mode) < 0 || mode.c_oflag & OPOST)
		return text;
	for (const char *s = text; *s; s++) {
		text_add(&out, *s == '\n' ? "\r" : "");
		text_add_bytes(&out, s, 1);
	}
	return text_get(&out);
}

void output_message(const char *label, const char *format, ...)
{
	struct arena arena = { 0 };
	struct screen screen = screen_for(&arena, output_reader(STDERR_FILENO));
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&arena, format, args);
	va_end(args);
	text_printf(&screen.out, "%s: ", label);
	// The lines of a multi-line text have their own indents; a program gets them unchanged.
	screen_add_wrapped(&screen, STYLE_PLAIN, text,
			   screen.reader.terminal ? strlen(label) + 2 : 0);
	text = add_carriage_returns(&arena, text_get(&screen.out));
	write_all(STDERR_FILENO, text, strlen(text));
	arena_free(&arena);
}

void output_error(const struct error *error)
{
	output_message("claudebox", "%s", error->message);
	if (error->note)
		output_message("note", "%s", error->note);
	if (error->hint)
		output_message("hint", "%s", error->hint);
}
