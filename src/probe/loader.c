// SPDX-License-Identifier: MIT
// Reads the dynamic loader that an ELF program requests (PT_INTERP).
#include "probe/loader.h"

#include "base/arena.h"
#include "sys/cleanup.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MAX_HEADERS = 64 };

static bool read_at(int fd, void *buffer, size_t size, off_t offset)
{
	return pread(fd, buffer, size, offset) == (ssize_t)size;
}

const char *probe_loader(struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char name[PATH_MAX];
	Elf64_Ehdr elf;

	if (fd < 0 || !read_at(fd, &elf, sizeof(elf), 0) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	for (size_t i = 0; i < elf.e_phnum && i < MAX_HEADERS; i++) {
		Elf64_Phdr header;

		if (!read_at(fd, &header, sizeof(header),
			     (off_t)(elf.e_phoff + i * sizeof(header))))
			return NULL;
		if (header.p_type != PT_INTERP)
			continue;
		if (header.p_filesz == 0 || header.p_filesz > sizeof(name) ||
		    !read_at(fd, name, header.p_filesz, (off_t)header.p_offset))
			return NULL;
		return arena_strndup(arena, name, strnlen(name, header.p_filesz));
	}
	return NULL;
}
