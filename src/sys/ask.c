// SPDX-License-Identifier: MIT
// Asks the user a yes-or-no question on the terminal.
#include "sys/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool ask_yes_no(const char *question, bool *ret_yes, struct error *error)
{
	// The audit goes to stderr. The user must be able to read it before answering.
	CLEANUP_FD int terminal = isatty(STDERR_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
	struct screen screen;
	char answer[64] = "";
	ssize_t got;

	if (terminal < 0) {
		error_set(error, "cannot ask for confirmation: there is no terminal");
		return error_hint(error,
				  "the list above is the box: start with --yes if you agree");
	}
	screen = screen_for(error->arena, output_reader(terminal));
	screen_add_words(&screen, STYLE_PLAIN, arena_printf(error->arena, "%s [y/N] ", question), 0,
			 0);
	if (!write_all(terminal, text_get(&screen.out), screen.out.length))
		return error_set(error, "cannot write to the terminal: %s", strerror(errno));
	got = read(terminal, answer, sizeof(answer) - 1);
	if (got <= 0 && write(terminal, "\n", 1) < 0)
		return error_set(error, "cannot read from the terminal: %s", strerror(errno));
	answer[strcspn(answer, "\n")] = '\0';
	*ret_yes = str_equal(answer, "y") || str_equal(answer, "Y") || str_equal(answer, "yes");
	return true;
}

bool ask_confirmation(struct error *error)
{
	bool yes = false;

	if (!ask_yes_no("Start?", &yes, error))
		return false;
	if (yes)
		return true;
	error_set(error, "not started");
	return error_hint(error, "answer y to start, or use --yes");
}
