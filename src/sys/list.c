// SPDX-License-Identifier: MIT
// Directory listings.
#include "sys/list.h"

#include "base/arena.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>

strings list_directory(struct arena *arena, int parent, const char *path)
{
	return list_directory_up_to(arena, parent, path, SIZE_MAX);
}

strings list_directory_up_to(struct arena *arena, int parent, const char *path, size_t max)
{
	CLEANUP_FD int fd = file_open(parent, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	strings names = { 0 };

	if (directory)
		take_fd(&fd);
	while (directory && names.count < max && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	return names;
}
