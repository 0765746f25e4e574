// SPDX-License-Identifier: MIT
// Shows a long text on the terminal.
#include "snapshot/pager.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/output.h"
#include "sys/process.h"
#include "sys/spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Returns the environment, with options for less if the user has set none.
static const char *const *build_environment(struct arena *arena)
{
	strings list = { 0 };

	for (char **entry = environ; *entry; entry++)
		vec_push(arena, &list, *entry);
	if (!getenv("LESS"))
		vec_push(arena, &list, "LESS=FRX");
	vec_push(arena, &list, NULL);
	return list.items;
}

// Starts the pager. Returns a socket to its input, -1: there is none.
static int start(struct arena *arena, const char *command, pid_t *ret_pid)
{
	const char *arguments[] = { "sh", "-c", command, NULL };
	struct spawn spawn = { .program = "/bin/sh",
			       .arguments = arguments,
			       .environment = build_environment(arena) };
	CLEANUP_FD int own = -1;
	CLEANUP_FD int other = -1;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	own = fds[0];
	other = fds[1];
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ other, STDIN_FILENO });
	return spawn_process(&spawn, ret_pid) ? take_fd(&own) : -1;
}

bool pager_show(struct arena *arena, const char *text, struct error *error)
{
	const char *command = getenv("PAGER");
	size_t length = strlen(text), sent = 0;
	pid_t pid = -1;
	int input;

	if (!command)
		command = "command -v less >/dev/null && exec less || exec cat";
	if (!*command || !length || !isatty(STDOUT_FILENO))
		return output_print(STDOUT_FILENO, text, error);
	input = start(arena, command, &pid);
	if (input < 0)
		return output_print(STDOUT_FILENO, text, error);
	while (sent < length) {
		ssize_t got = send(input, text + sent, length - sent, MSG_NOSIGNAL);

		if (got < 0 && errno != EINTR)
			break; // the user has left the pager
		sent += got > 0 ? (size_t)got : 0;
	}
	close(input);
	if (process_exit_status(process_wait(pid)) == EXIT_NOT_FOUND)
		return output_print(STDOUT_FILENO, text, error);
	return true;
}
