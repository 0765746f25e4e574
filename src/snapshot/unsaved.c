// SPDX-License-Identifier: MIT
// Remembers that a session ran without a snapshot.
//
// Theory of operation: --undo and --diff know saved sessions only. Without a note, they would mean
// an earlier session than the user does.
#include "snapshot/unsaved.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define UNSAVED_NAME "unsaved"

enum { TIME_LIMIT = 64 };

void unsaved_note(const char *path, struct arena *arena)
{
	struct error ignored = { .arena = arena };
	CLEANUP_FD int directory = -1;

	if (!path)
		return;
	mkdir(path_parent(arena, path), 0700);
	mkdir(path, 0700);
	directory = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (directory >= 0)
		replace_file(directory, UNSAVED_NAME,
			     arena_printf(arena, "%lld\n", (long long)clock_realtime_ms()),
			     &ignored);
}

int64_t unsaved_read(const struct store *store, struct arena *arena)
{
	const char *text = file_read_at(arena, store->directory, UNSAVED_NAME, TIME_LIMIT);

	return text ? strtoll(text, NULL, 10) : 0;
}
