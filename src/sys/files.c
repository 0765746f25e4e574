// SPDX-License-Identifier: MIT
// Opens and reads files without following symbolic links, and resolves symbolic links.
#include "sys/files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_HOPS = 40 };

static enum file_kind kind_of(mode_t mode)
{
	if (S_ISREG(mode))
		return FILE_REGULAR;
	if (S_ISDIR(mode))
		return FILE_DIRECTORY;
	return FILE_OTHER;
}

// Resolves a path without symbolic links, or a missing one, with one system call. Returns false if
// file_follow() has to resolve the path component by component.
static bool follow_plain(struct arena *arena, const char *path, struct followed *result)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	CLEANUP_FD int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	struct stat status;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode))
		return false;
	result->real = path_clean(arena, path);
	result->kind = kind_of(status.st_mode);
	result->id = file_identity(&status);
	return true;
}

// Resolves a path component by component and records every symbolic link.
static struct followed follow_links(struct arena *arena, const char *path)
{
	struct followed result = { .path = path, .key = path_key(path), .real = path };
	const char *rest = path;
	char place[PATH_MAX] = "";
	size_t length = 0;
	struct stat status;

	while (*(rest += strspn(rest, "/"))) {
		size_t part = strcspn(rest, "/");
		char target[PATH_MAX];
		ssize_t got;

		if (length + part + 2 > sizeof(place))
			return result;
		if (part == 2 && memcmp(rest, "..", 2) == 0) {
			while (length && place[--length] != '/')
				;
			place[length] = '\0';
			rest += part;
			continue;
		}
		if (part == 1 && *rest == '.') {
			rest += part;
			continue;
		}
		snprintf(place + length, sizeof(place) - length, "/%.*s", (int)part, rest);
		rest += part;
		got = readlink(place, target, sizeof(target) - 1);
		if (got < 0) {
			if (errno != EINVAL)
				return result;
			length += part + 1;
			continue;
		}
		target[got] = '\0';
		if (result.hops.count == MOST_HOPS)
			return result;
		vec_push(arena, &result.hops,
			 (struct link_hop){ .link = arena_strdup(arena, place),
					    .target = arena_strdup(arena, target) });
		rest = arena_printf(arena, "%s/%s", target, rest);
		if (target[0] == '/')
			length = 0;
		place[length] = '\0';
	}
	result.real = length ? arena_strdup(arena, place) : "/";
	if (lstat(result.real, &status) == 0) {
		result.kind = kind_of(status.st_mode);
		result.id = file_identity(&status);
	}
	return result;
}

struct followed file_follow(struct arena *arena, const char *path)
{
	struct followed result = { .path = path, .key = path_key(path), .real = path };

	return follow_plain(arena, path, &result) ? result : follow_links(arena, path);
}

// Opens a path component by component: Linux before 5.6 and some seccomp filters lack openat2(2).
static int open_by_steps(int directory, const char *path, int flags)
{
	CLEANUP_FD int at = openat(*path == '/' ? AT_FDCWD : directory, *path == '/' ? "/" : ".",
				   O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (;;) {
		size_t part = strcspn(path += strspn(path, "/"), "/");
		bool last = path[part + strspn(path + part, "/")] == '\0';
		char name[NAME_MAX + 1] = ".";
		int next;

		if (part > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (part)
			snprintf(name, sizeof(name), "%.*s", (int)part, path);
		next = openat(at, name,
			      (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
		if (last || next < 0)
			return next;
		close(at);
		at = next;
		path += part;
	}
}

int file_open(int directory, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned int)(flags | O_NOFOLLOW | O_CLOEXEC),
				.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));

	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_by_steps(directory, path, flags)
							     : fd;
}

// The file may change meanwhile, so no more is read than the size that fstat(2) reported.
char *file_read_bytes(struct arena *arena, int fd, size_t limit, size_t *ret_length)
{
	struct stat status;
	size_t length = 0;
	char *text;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (size_t)status.st_size > limit)
		return NULL;
	text = arena_alloc(arena, (size_t)status.st_size + 1);
	while (length < (size_t)status.st_size) {
		ssize_t got = read(fd, text + length, (size_t)status.st_size - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	*ret_length = length;
	return text;
}

// Reads a text. Returns NULL on failure, and if there is a NUL byte in it.
static const char *read_text(struct arena *arena, int fd, size_t limit)
{
	size_t length;
	const char *text = file_read_bytes(arena, fd, limit, &length);

	return text && memchr(text, '\0', length) ? NULL : text;
}

struct file_id file_identity(const struct stat *status)
{
	return (struct file_id){ .device = status->st_dev,
				 .inode = status->st_ino,
				 .type = status->st_mode & S_IFMT };
}

bool file_is_same(int fd, const struct file_id *id)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode))
		return false;
	if (id->type && id->type != (status.st_mode & S_IFMT))
		return false;
	return !id->inode || (status.st_dev == id->device && status.st_ino == id->inode);
}

DIR *open_directory_stream(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

enum { READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY };

const char *file_read(struct arena *arena, const char *path, size_t limit, int flags)
{
	CLEANUP_FD int fd = flags & READ_FOLLOW ? open(path, READ_FLAGS | O_CLOEXEC)
						: file_open(AT_FDCWD, path, READ_FLAGS);

	return read_text(arena, fd, limit);
}

const char *file_read_descriptor(struct arena *arena, int fd, size_t limit)
{
	return read_text(arena, fd, limit);
}

const char *file_read_at(struct arena *arena, int directory, const char *name, size_t limit)
{
	CLEANUP_FD int fd = file_open(directory, name, READ_FLAGS);

	return read_text(arena, fd, limit);
}

const char *file_read_single_at(struct arena *arena, int directory, const char *name, size_t limit)
{
	CLEANUP_FD int fd = file_open(directory, name, READ_FLAGS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_uid != geteuid() || status.st_nlink != 1)
		return NULL;
	return read_text(arena, fd, limit);
}

char *file_read_bytes_at(struct arena *arena, int directory, const char *name, size_t limit,
			 size_t *ret_length)
{
	CLEANUP_FD int fd = file_open(directory, name, READ_FLAGS);

	return file_read_bytes(arena, fd, limit, ret_length);
}
