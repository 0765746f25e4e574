// SPDX-License-Identifier: MIT
// Copies what somebody else made: plain files and directories, nothing else, and nothing through a link.
#include "sys/copy_tree.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Unfinished files have this one name, in a place where no box comes.
#define PART_NAME "copy.part"

enum { DEEPEST = 32, PIECE = 1024 * 1024 };

struct copying {
	int part;
	size_t left;
};

// Only what is there: a file that is one large hole stays one.
static bool copy_content(int from, int to, off_t size)
{
	off_t at = 0;

	while (at < size && (at = lseek(from, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(from, at, SEEK_HOLE);

		if (end < 0 || lseek(from, at, SEEK_SET) < 0 || lseek(to, at, SEEK_SET) < 0)
			return false;
		while (at < end) {
			size_t piece = end - at < PIECE ? (size_t)(end - at) : PIECE;
			ssize_t done = copy_file_range(from, NULL, to, NULL, piece, 0);

			if (done <= 0)
				return done == 0;
			at += done;
		}
	}
	return at >= 0 || errno == ENXIO ? ftruncate(to, size) == 0 : false;
}

static bool copy_file(const struct copying *copying, int from, const struct stat *status, int to,
		      const char *name)
{
	struct timespec times[] = { status->st_atim, status->st_mtim };
	CLEANUP_FD int part = -1;

	unlinkat(copying->part, PART_NAME, 0);
	part = openat(copying->part, PART_NAME,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (part < 0)
		return false;
	// Claude sorts conversations by their time.
	if (fchmod(part, 0600) == 0 && copy_content(from, part, status->st_size) &&
	    futimens(part, times) == 0 &&
	    (renameat2(copying->part, PART_NAME, to, name, RENAME_NOREPLACE) == 0 ||
	     errno == EEXIST))
		return true;
	unlinkat(copying->part, PART_NAME, 0);
	return false;
}

static bool copy_entry(struct copying *copying, int from, int to, const char *name, int depth);

// Takes over `from`.
static bool copy_directory(struct copying *copying, int from, int to, const char *name, int depth)
{
	CLEANUP_DIR DIR *directory = fdopendir(from);
	struct error ignored = { .arena = &(struct arena){ 0 } };
	CLEANUP_FD int place = open_directory(to, name, name, &ignored);
	const struct dirent *entry;
	int problem = errno;
	bool ok = true;

	arena_free(ignored.arena);
	if (!directory || place < 0) {
		errno = problem;
		// What a box has put there is not our way.
		if (directory && (problem == ENOTDIR || problem == ELOOP)) {
			copying->left++;
			return true;
		}
		return false;
	}
	while (ok && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			ok = copy_entry(copying, dirfd(directory), place, entry->d_name, depth + 1);
	return ok;
}

static bool copy_entry(struct copying *copying, int from, int to, const char *name, int depth)
{
	CLEANUP_FD int fd =
		openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	struct stat there;

	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd >= 0 && fstat(fd, &status) == 0) {
		if (S_ISDIR(status.st_mode) && depth < DEEPEST)
			return copy_directory(copying, take_fd(&fd), to, name, depth);
		if (S_ISREG(status.st_mode))
			return fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0 ||
			       copy_file(copying, fd, &status, to, name);
	}
	copying->left++;
	return true;
}

bool copy_tree(int from, int to, const char *name, int part, size_t *left)
{
	struct copying copying = { .part = part };
	bool ok = copy_entry(&copying, from, to, name, 0);

	*left += copying.left;
	return ok;
}
