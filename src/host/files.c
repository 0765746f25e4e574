// SPDX-License-Identifier: MIT
// Reading files and following links without being led astray.
#include "host/probe.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"

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

// Most paths have no link in them, or are not there at all: the kernel tells so at once. False: look closer.
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
	result->id = (struct file_id){ .device = status.st_dev, .inode = status.st_ino };
	return true;
}

struct followed probe_follow(struct arena *arena, const char *path)
{
	struct followed result = { .path = path, .real = path };
	const char *rest = path;
	char place[PATH_MAX] = "";
	size_t length = 0;
	struct stat status;

	if (follow_plain(arena, path, &result))
		return result;
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
		result.id = (struct file_id){ .device = status.st_dev, .inode = status.st_ino };
	}
	return result;
}

const char *probe_read(struct arena *arena, const char *path, size_t limit, int flags)
{
	int nofollow = flags & READ_FOLLOW ? 0 : O_NOFOLLOW;
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | nofollow);
	struct stat status;
	size_t length = 0;
	char *text;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (size_t)status.st_size > limit)
		return NULL;
	text = arena_alloc(arena, limit < (size_t)status.st_size + 4096
					  ? limit + 1
					  : (size_t)status.st_size + 4096);
	while (length < (size_t)status.st_size) {
		ssize_t got = read(fd, text + length, (size_t)status.st_size - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	return memchr(text, '\0', length) ? NULL : text;
}

const char *probe_program(struct arena *arena, const struct host *host, const char *name,
			  const char *project)
{
	const char *path = host_variable(host, "PATH");

	// The last ones are not on an ordinary user's PATH everywhere, and nft is there.
	path = arena_printf(arena, "%s:/usr/local/sbin:/usr/sbin:/sbin",
			    path ? path : "/usr/bin:/bin");
	for (const char *s = path; *s;) {
		size_t length = strcspn(s, ":");
		const char *directory = arena_strndup(arena, s, length);
		const char *candidate = arena_printf(arena, "%s/%s", directory, name);
		struct stat status;

		s += length + (s[length] == ':');
		if (directory[0] != '/' || stat(candidate, &status) < 0 ||
		    !S_ISREG(status.st_mode) || access(candidate, X_OK) < 0)
			continue;
		if (project && (path_within(probe_follow(arena, candidate).real, project) ||
				path_within(probe_follow(arena, directory).real, project)))
			continue;
		return candidate;
	}
	return NULL;
}
