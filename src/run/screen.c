// SPDX-License-Identifier: MIT
// Who reads what we print: a person in front of a terminal, or a program.
#include "run/run.h"

#include "base/text.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct run_screen run_look_at_screen(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	struct run_screen screen = { .terminal = isatty(fd) };
	struct winsize size = { 0 };

	if (!screen.terminal)
		return screen;
	screen.colour = !(no_color && *no_color) && !str_equal(getenv("TERM"), "dumb");
	ioctl(fd, TIOCGWINSZ, &size);
	screen.columns = size.ws_col;
	return screen;
}
