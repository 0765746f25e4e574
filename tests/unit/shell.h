// SPDX-License-Identifier: MIT
// Runs a script in a shell, without a file on disk.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool shell_exists(const char *shell)
{
	return access(shell, X_OK) == 0;
}

// Returns the output of the script, which may contain NUL bytes, or NULL when the script failed.
static inline const char *shell_run(struct arena *arena, const char *shell, const char *script,
				    size_t *ret_length)
{
	struct text out = { .arena = arena };
	size_t length = strlen(script);
	int fd = memfd_create("script", 0);
	char buffer[4096];
	size_t got;
	FILE *pipe;

	if (fd < 0)
		return NULL;
	pipe = write(fd, script, length) == (ssize_t)length
		       ? popen(arena_printf(arena, "exec %s /proc/self/fd/%d", shell, fd), "r")
		       : NULL;
	while (pipe && (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
		text_add_bytes(&out, buffer, got);
	close(fd);
	if (!pipe || pclose(pipe) != 0)
		return NULL;
	*ret_length = out.length;
	return text_get(&out);
}

// Shells in which a pasted script must work, if they are installed.
static const char *const shells[] = { "/bin/sh", "/bin/dash", "/bin/bash" };
