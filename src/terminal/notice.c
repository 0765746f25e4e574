// SPDX-License-Identifier: MIT
// Shows a line on the user's terminal while the box uses it.
//
// Theory of operation: the terminal relay writes whole sequences, so between two writes the line
// can be shown: save the cursor, go to the first row, write in reverse video, restore the cursor.
// The program in the box does not know about it, and may write over it.
#include "terminal/notice.h"

#include "base/arena.h"
#include "base/width.h"
#include "sys/write.h"
#include "terminal/relay_state.h"
#include "terminal/terminal.h"

#include <string.h>
#include <sys/ioctl.h>

enum { DEFAULT_COLUMNS = 80 };

size_t terminal_notice_columns(const struct terminal *terminal)
{
	struct winsize size = { 0 };

	if (ioctl(terminal->fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return DEFAULT_COLUMNS - 1;
	return size.ws_col > 1 ? size.ws_col - 1U : 1;
}

bool terminal_notice(const struct terminal *terminal, const char *line)
{
	struct arena arena = { 0 };
	const char *text;
	int length;
	bool ok;

	if (terminal->fd < 0 || !terminal_is_foreground(terminal) ||
	    (terminal->relay && terminal->relay->out.length))
		return false;
	length = (int)display_fit(line, terminal_notice_columns(terminal));
	text = arena_printf(&arena, "\0337\033[1;1H\033[7m%.*s\033[0m\033[K\0338", length, line);
	ok = write_all(terminal->fd, text, strlen(text));
	arena_free(&arena);
	return ok;
}
