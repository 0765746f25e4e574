// SPDX-License-Identifier: MIT
// The copy of a directory of generated hooks, which a box may write.
//
// Theory of operation: husky writes `.husky/_` again at each `npm install`. The copy is mounted
// over the directory in the box, so the install works, and git in the box runs the hooks. The
// directory of the host is never written. A box that writes the same files again changes nothing.
// Another content is the work of the agent, so it goes to quarantine, unless the host has the same
// meanwhile. The digest is one of names, contents and the permission to execute; a directory that
// has something else than small files has none.
#include "guard/git/hooks.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "guard/quarantine/quarantine.h"
#include "plan/guard/hooks.h"
#include "plan/guard/places.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIGEST_DIGITS = 64, PERMISSIONS = 0777 };

struct hook {
	const char *bytes;
	size_t length;
	mode_t mode;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Reads a file of an open directory. Returns false with errno if it is no small file.
static bool read_hook(struct arena *arena, int directory, const char *name, struct hook *ret_hook)
{
	CLEANUP_FD int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return false;
	errno = EINVAL;
	if (!S_ISREG(status.st_mode))
		return false;
	ret_hook->bytes = file_read_bytes(arena, fd, HOOK_SIZE_MAX, &ret_hook->length);
	ret_hook->mode = status.st_mode & PERMISSIONS;
	return ret_hook->bytes;
}

static bool write_hook(int directory, const char *name, const struct hook *hook)
{
	CLEANUP_FD int fd = create_file(directory, name);

	return fd >= 0 && write_all(fd, hook->bytes, hook->length) &&
	       fchmod(fd, hook->mode | S_IRUSR | S_IWUSR) == 0;
}

// Returns the digest of an open directory, and writes its files to another one if `copy` is one.
// Returns NULL with errno if it has something else than few small files.
static const char *digest_directory(struct arena *arena, int directory, int copy)
{
	strings names = list_directory_up_to(arena, directory, ".", HOOKS_MAX + 1);
	struct text all = { .arena = arena };

	errno = EINVAL;
	if (names.count > HOOKS_MAX)
		return NULL;
	if (names.count)
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
	vec_each(name, &names) {
		struct hook hook;

		if (!read_hook(arena, directory, *name, &hook) ||
		    (copy >= 0 && !write_hook(copy, *name, &hook)))
			return NULL;
		text_printf(&all, "%zu %s %d %s\n", strlen(*name), *name,
			    (hook.mode & S_IXUSR) != 0,
			    digest_hex_bytes(arena, hook.bytes, hook.length, DIGEST_DIGITS));
	}
	return digest_hex(arena, text_get(&all), DIGEST_DIGITS);
}

const char *hooks_copy(struct arena *arena, const char *path, int copies, const char *name)
{
	CLEANUP_FD int from = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int to = -1;

	if (from < 0 || mkdirat(copies, name, S_IRWXU) < 0)
		return NULL;
	to = file_open(copies, name, O_RDONLY | O_DIRECTORY);
	return to >= 0 ? digest_directory(arena, from, to) : NULL;
}

// Returns the digest of a directory, NULL: it has none.
static const char *digest_at(struct arena *arena, int parent, const char *path)
{
	CLEANUP_FD int directory = file_open(parent, path, O_RDONLY | O_DIRECTORY);

	return directory >= 0 ? digest_directory(arena, directory, -1) : NULL;
}

// Adds the permissions of the owner, which a box can remove: a rename needs them. Returns false if
// the copy is no directory any more.
static bool make_movable(int copies, const char *name)
{
	struct stat status;

	return fstatat(copies, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode) && fchmodat(copies, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *hooks_finish(struct arena *arena, const char *project, const char *path, int copies,
			 const char *name, const char *before, int quarantine)
{
	const char *below = str_after(path, project);
	const char *after = make_movable(copies, name) ? digest_at(arena, copies, name) : NULL;
	bool moved;

	if (after &&
	    (str_equal(after, before) || str_equal(after, digest_at(arena, AT_FDCWD, path))))
		return NULL;
	moved = quarantine >= 0 && quarantine_move(quarantine, arena, copies, name, path,
						   guard_find_in_git("hooks")->why, false);
	return arena_printf(arena, "changes of '%s' stayed in the box%s",
			    quote_display(arena, below && *below == '/' ? below + 1 : path, 0),
			    moved ? " (claudebox --quarantine has them)" : "");
}
