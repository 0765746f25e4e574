// SPDX-License-Identifier: MIT
// Attacks on the places of the project that programs of the host execute or trust.
//
// Theory of operation: the project is the user's, and it stays unchanged also if a place is not
// protected. So an existing place is attacked only with calls that cannot change it: an open
// without a write, a test of access, and the removal of a directory that is not empty, which the
// kernel refuses with EBUSY if a mount pins it and with ENOTEMPTY otherwise. It refuses to rename
// a mount point for the same reason. Places that do not exist are created in a new directory.
#include "freestanding/process.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <linux/time_types.h>

enum { WRITE_ACCESS = 2, MOVED_MS = 600, PAUSE_NS = 5 * 1000 * 1000 };

// What is created, parents first. A name that ends in '/' is a directory.
static const char *const created[] = {
	"",
	"repository/",
	"repository/.git/",
	"repository/.git/objects/",
	"repository/.git/refs/",
	"repository/.git/hooks/",
	"repository/.git/HEAD",
	"repository/.git/hooks/pre-commit",
	".envrc",
};
// Those of them that the host would execute.
static const char *const executed[] = { "repository/.git/hooks/pre-commit", ".envrc" };

static bool is_place(const struct canary *place, const char *kind)
{
	return text_equal(place->field[1], kind);
}

// Returns the status of a path, without following a link.
static long status_of(const char *path, struct statx *ret_status)
{
	return call6(__NR_statx, AT_FDCWD, (long)path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
		     (long)ret_status, 0);
}

// Returns whether a place is covered by a copy of the box, whose path is its kind.
static bool is_copy(const struct canary *place)
{
	const char *copy = place->field[1];
	struct statx there = { 0 }, own = { 0 };

	return copy[0] == '/' && status_of(place->field[0], &there) == 0 &&
	       status_of(copy, &own) == 0 && there.stx_ino == own.stx_ino &&
	       there.stx_dev_major == own.stx_dev_major && there.stx_dev_minor == own.stx_dev_minor;
}

// The configuration of git is covered by a link to a copy of the box, which is not followed. A
// write to a copy does not reach the project.
enum verdict try_PROJECT_WRITE(void)
{
	struct tries tries = { 0 };
	long result;

	for (const struct canary *place = NULL; (place = next_canary(place, CANARY_PLACE));) {
		if (is_place(place, "pin"))
			continue;
		if (is_copy(place)) {
			failed(&tries, -EROFS);
			continue;
		}
		result = is_place(place, "directory") || place->field[1][0] == '/'
				 ? call(__NR_faccessat, AT_FDCWD, place->field[0], WRITE_ACCESS, 0)
				 : open_file(place->field[0], O_WRONLY | O_NOFOLLOW);
		if (!failed(&tries, result))
			return leaked("%s can be written", place->field[0]);
	}
	return all_failed(&tries);
}

// Returns whether a directory has no entry. One that cannot be read counts as empty.
static bool is_empty(const char *path)
{
	char names[64]; // "." and ".." are in it

	return list_names(path, names, sizeof(names)) <= 5;
}

enum verdict try_PROJECT_REPLACE(void)
{
	struct statx status = { 0 };
	struct tries tries = { 0 };
	long result;

	for (const struct canary *place = NULL; (place = next_canary(place, CANARY_PLACE));) {
		if (failed(&tries, status_of(place->field[0], &status)))
			continue;
		if (!(status.stx_attributes & STATX_ATTR_MOUNT_ROOT))
			return leaked("%s is no mount point and can be replaced", place->field[0]);
		if ((status.stx_mode & S_IFMT) != S_IFDIR || is_empty(place->field[0])) {
			failed(&tries, -EBUSY); // of every mount point
			continue;
		}
		result = call(__NR_unlinkat, AT_FDCWD, place->field[0], AT_REMOVEDIR, 0);
		if (result == -ENOTEMPTY)
			return leaked("%s can be moved", place->field[0]);
		failed(&tries, result);
	}
	return all_failed(&tries);
}

static void created_path(char *buffer, size_t size, const char *name)
{
	size_t length;

	scratch_path(buffer, size, "places/");
	length = text_length(buffer);
	text_format(buffer + length, size - length, "%s", name);
}

static bool is_directory_name(const char *name)
{
	return !*name || name[text_length(name) - 1] == '/';
}

static void remove_created(void)
{
	char path[PATH_SIZE];

	for (size_t i = ARRAY_SIZE(created); i-- > 0;) {
		created_path(path, sizeof(path), created[i]);
		call(__NR_unlinkat, AT_FDCWD, path,
		     is_directory_name(created[i]) ? AT_REMOVEDIR : 0, 0);
	}
}

// Returns the first place that is still there after the guard had time to move it; NULL: none.
static const char *wait_until_moved(void)
{
	struct __kernel_timespec pause = { .tv_nsec = PAUSE_NS };
	const char *left = NULL;
	struct statx status;
	char path[PATH_SIZE];

	for (long end = clock_ms() + MOVED_MS; clock_ms() < end;) {
		left = NULL;
		for (size_t place = 0; place < ARRAY_SIZE(executed); place++) {
			created_path(path, sizeof(path), executed[place]);
			if (status_of(path, &status) >= 0)
				left = executed[place];
		}
		if (!left)
			break;
		call(__NR_nanosleep, &pause, NULL, 0, 0);
	}
	return left;
}

enum verdict try_PROJECT_CREATE(void)
{
	struct tries tries = { 0 };
	const char *left;
	char path[PATH_SIZE];
	long file;

	for (size_t i = 0; i < ARRAY_SIZE(created); i++) {
		created_path(path, sizeof(path), created[i]);
		file = is_directory_name(created[i])
			       ? call(__NR_mkdirat, AT_FDCWD, path, 0700, 0)
			       : call(__NR_openat, AT_FDCWD, path,
				      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
		if (failed(&tries, file)) {
			remove_created();
			return all_failed(&tries);
		}
		if (!is_directory_name(created[i])) {
			// An empty file executes nothing, and is not moved.
			call(__NR_write, file, "#", 1, 0);
			close_file(file);
		}
	}
	left = wait_until_moved();
	remove_created();
	return left ? leaked("%s stays in the project", left) : blocked("moved to quarantine");
}
