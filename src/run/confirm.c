// SPDX-License-Identifier: MIT
// The question before the start (UX-02).
#include "run/run.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

bool run_confirm(struct error *error)
{
	CLEANUP_FILE FILE *terminal = isatty(STDERR_FILENO) ? fopen("/dev/tty", "r+e") : NULL;
	char answer[64] = "";

	if (!terminal) {
		error_hint(error, "read what --dry-run prints, then start with --yes");
		return error_set(error, "there is no terminal to ask for confirmation on");
	}
	fputs("Start? [y/N] ", terminal);
	fflush(terminal);
	if (!fgets(answer, sizeof(answer), terminal))
		fputc('\n', terminal);
	if (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
	    strcmp(answer, "yes\n") == 0)
		return true;
	return error_set(error, "not started");
}
