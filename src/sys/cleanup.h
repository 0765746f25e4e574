// SPDX-License-Identifier: MIT
// Attributes that release what a function holds on every way out. For code that acts, not for pure code.
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

// Hands a descriptor on, so that the cleanup leaves it alone.
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
