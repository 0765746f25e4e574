// SPDX-License-Identifier: MIT
// Attributes that close a descriptor or stream at the end of its scope. For acting code only.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_closedir(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define CLEANUP_FD   __attribute__((cleanup(cleanup_close)))
#define CLEANUP_DIR  __attribute__((cleanup(cleanup_closedir)))
#define CLEANUP_FILE __attribute__((cleanup(cleanup_fclose)))

// Returns the descriptor and sets *fd to -1, so that the cleanup does not close it.
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
