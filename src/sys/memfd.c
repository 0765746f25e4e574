// SPDX-License-Identifier: MIT
// Creates and reads files in memory.
#include "sys/memfd.h"

#include "base/arena.h"
#include "sys/write.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

int memfd_open(const char *name, bool executable)
{
	int fd = memfd_create(name, MFD_CLOEXEC | (executable ? MFD_EXEC : 0));

	if (fd < 0 && errno == EINVAL) // before Linux 6.3 every memfd is executable
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd;
}

int memfd_with(const char *name, const void *bytes, size_t size, bool executable)
{
	int fd = memfd_open(name, executable);

	if (fd >= 0 && (!write_all(fd, bytes, size) || lseek(fd, 0, SEEK_SET) < 0)) {
		int failure = errno;

		close(fd);
		errno = failure;
		return -1;
	}
	return fd;
}

int memfd_with_text(const char *name, const char *text)
{
	return memfd_with(name, text, strlen(text), false);
}

const char *memfd_read(struct arena *arena, int fd, size_t limit)
{
	struct stat status;
	char *text;

	if (fd < 0 || fstat(fd, &status) < 0 || (size_t)status.st_size > limit)
		return NULL;
	text = arena_alloc(arena, (size_t)status.st_size + 1);
	return pread(fd, text, (size_t)status.st_size, 0) == status.st_size ? text : NULL;
}
