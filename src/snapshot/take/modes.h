// SPDX-License-Identifier: MIT
// Permissions of files that git does not store.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file_mode {
	const char *path;
	mode_t mode;
};

// The permissions of files that differ from those of a new file, by path.
struct modes {
	VEC(struct file_mode) list;
	mode_t usual; // of a new file
};

// The permissions of new files, by the umask.
struct usual_modes {
	mode_t file;
	mode_t executable;
};

struct usual_modes modes_usual(void);
// Adds the permissions of a file to a text, if a new file would have other ones.
void modes_add_file(struct text *modes, const struct usual_modes *usual, const char *path,
		    const struct stat *status);
// Adds those of the listed files. `paths`: relative to the project, each with a NUL.
void modes_collect(const struct store *store, const struct text *paths, struct text *modes);
// Writes the permissions at the start of a session, or before an undo.
bool modes_write(int session, const struct text *modes, struct error *error);
// Reads those of a session.
struct modes modes_read(const struct store *store, struct arena *arena, const char *id);
// Returns the permissions of a file at the start.
mode_t modes_find(const struct modes *modes, const char *path);
