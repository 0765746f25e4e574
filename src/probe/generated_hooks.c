// SPDX-License-Identifier: MIT
// Recognises a directory of hooks that a tool has generated.
//
// Theory of operation: husky writes the directory `.husky/_` again at each `npm install`. If it is
// read-only, the install fails. So the box gets a copy of such a directory, which it may write
// (guard/git/hooks.c). A directory that the user has written stays read-only: the agent would edit
// a copy without knowing it. husky marks its directory with a .gitignore of one line, `*`. A box
// cannot make this mark: it writes no file of a directory of hooks that the host has.
#include "probe/generated_hooks.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/hooks.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { IGNORE_LIMIT = 64 };

// Returns whether git ignores all files of a directory, by the directory's own .gitignore.
static bool ignores_itself(struct arena *arena, const char *path)
{
	const char *text = file_read(arena, path_join(arena, path, ".gitignore"), IGNORE_LIMIT, 0);

	return text && *text == '*' && !text[1 + strspn(text + 1, " \t\r\n")];
}

bool probe_is_generated(struct arena *arena, const char *path)
{
	CLEANUP_DIR DIR *directory =
		ignores_itself(arena, path) ? open_directory_stream(AT_FDCWD, path) : NULL;
	const struct dirent *entry;
	struct stat status;
	size_t count = 0;

	if (!directory)
		return false;
	while ((entry = readdir(directory))) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (++count > HOOKS_MAX ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode) || status.st_size > HOOK_SIZE_MAX)
			return false;
	}
	return true;
}
