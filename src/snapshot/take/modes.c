// SPDX-License-Identifier: MIT
// Permissions of files that git does not store: a deleted file with mode 600 must not come back as
// one that others can read.
#include "snapshot/take/modes.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODES "modes"

enum { MODES_LIMIT = 256 * 1024 * 1024, DIGITS = 4, PERMISSIONS = 0777 };

struct usual_modes modes_usual(void)
{
	mode_t mask = umask(0);
	mode_t file = 0666 & ~mask;

	umask(mask);
	return (struct usual_modes){ .file = file, .executable = file | (file & 0444) >> 2 };
}

void modes_add_file(struct text *modes, const struct usual_modes *usual, const char *path,
		    const struct stat *status)
{
	mode_t mode = status->st_mode & PERMISSIONS;

	if (!S_ISREG(status->st_mode) || mode == usual->file || mode == usual->executable)
		return;
	text_printf(modes, "%0*o", DIGITS, (unsigned int)mode);
	text_add_bytes(modes, path, strlen(path) + 1);
}

void modes_collect(const struct store *store, const struct text *paths, struct text *modes)
{
	CLEANUP_FD int project = open(store->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *end = text_get(paths) + paths->length;
	struct usual_modes usual = modes_usual();
	struct stat status;

	for (const char *path = text_get(paths); path < end; path += strlen(path) + 1)
		if (fstatat(project, path, &status, AT_SYMLINK_NOFOLLOW) == 0)
			modes_add_file(modes, &usual, path, &status);
}

bool modes_write(int session, const struct text *modes, struct error *error)
{
	return replace_file_bytes(session, MODES, text_get(modes), modes->length, error);
}

struct modes modes_read(const struct store *store, struct arena *arena, const char *id)
{
	const char *name = arena_printf(arena, "sessions/%s/" MODES, id);
	struct modes modes = { .usual = modes_usual().file };
	size_t length = 0;
	const char *text = file_read_bytes_at(arena, store->directory, name, MODES_LIMIT, &length);

	for (const char *entry = text; entry && entry < text + length; entry += strlen(entry) + 1) {
		const char *digits;

		if (strlen(entry) <= DIGITS)
			continue;
		digits = arena_strndup(arena, entry, DIGITS);
		vec_push(arena, &modes.list,
			 (struct file_mode){ .path = entry + DIGITS,
					     .mode = (mode_t)strtoul(digits, NULL, 8) &
						     PERMISSIONS });
	}
	return modes;
}

mode_t modes_find(const struct modes *modes, const char *path)
{
	vec_each(file, &modes->list) {
		if (str_equal(file->path, path))
			return file->mode;
	}
	return modes->usual;
}
