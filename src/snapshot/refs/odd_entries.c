// SPDX-License-Identifier: MIT
// Looks for entries of a git directory that git itself never makes.
//
// Theory of operation: a box can replace `.git/logs/HEAD` by a link to any file of the user, and
// git appends to it when a branch is restored. The guard moves such links away; this is the second
// barrier, also for links that are older than the guard.
#include "snapshot/refs/odd_entries.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 500 * 1000, MOST_LEVELS = 40 };

static bool refuse(const char *path, struct error *error)
{
	error_set(error, "'%s' is a link or a special file", quote_display(error->arena, path, 0));
	return error_hint(error, "git makes none there: examine it, remove it, and try again; "
				 "without =commits, claudebox --undo restores the files");
}

// Examines a directory, which may be missing.
static bool examine(const char *path, int levels, size_t *entries, struct error *error)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	struct stat status;

	while (stream && (entry = readdir(stream))) {
		const char *below = path_join(error->arena, path, entry->d_name);

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (++*entries > MOST_ENTRIES || !levels)
			return error_set(error, "'%s' has too many references",
					 quote_display(error->arena, path, 0));
		if (fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(status.st_mode) ? !examine(below, levels - 1, entries, error)
					    : !S_ISREG(status.st_mode) && !refuse(below, error))
			return false;
	}
	return true;
}

bool odd_entries_refuse(const char *git_directory, struct error *error)
{
	static const char *const names[] = { "HEAD",      "packed-refs", "index",
					     "commondir", "refs",        "logs" };
	size_t entries = 0;
	struct stat status;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path = path_join(error->arena, git_directory, names[i]);

		if (lstat(path, &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode) ? !examine(path, MOST_LEVELS, &entries, error)
					    : !S_ISREG(status.st_mode) && !refuse(path, error))
			return false;
	}
	return true;
}
