// SPDX-License-Identifier: MIT
// The index of the project's repository: a copy, a digest of its entries, and its replacement.
//
// Theory of operation: git writes the index again when it has read the times of files, so its bytes
// say nothing about what the user has staged. The digest has the entries alone. An index that
// cannot be read counts by its bytes: then a difference is seen where there is none, which refuses
// an undo and loses nothing.
#include "snapshot/refs/project_index.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// Prefix of the digest of an index that cannot be read.
#define BYTES "bytes-"

enum { INDEX_LIMIT = 512 * 1024 * 1024, SHA1_SIZE = 20, SHA256_SIZE = 32, DIGITS = 64 };

// Returns the bytes of the index in a directory, NULL: there is none.
static char *read_index(struct arena *arena, const char *directory, size_t *ret_length)
{
	CLEANUP_FD int fd =
		file_open(AT_FDCWD, path_join(arena, directory, "index"), O_RDONLY | O_NONBLOCK);

	*ret_length = 0;
	return fd < 0 ? NULL : file_read_bytes(arena, fd, INDEX_LIMIT, ret_length);
}

// Returns whether a git directory that exists has no index.
static bool is_missing(const char *directory)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);

	return fd >= 0 && faccessat(fd, "index", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

bool project_index_copy(int session, const char *git_directory, struct error *error)
{
	struct arena arena = { 0 }; // an index can be large
	size_t length;
	const char *bytes = git_directory ? read_index(&arena, git_directory, &length) : NULL;
	bool ok;

	if (!bytes && git_directory && is_missing(git_directory))
		bytes = "";
	ok = !bytes || replace_file_bytes(session, "index", bytes, length, error);

	arena_free(&arena);
	return ok;
}

const char *project_index_digest(struct arena *arena, const char *directory)
{
	static const size_t sizes[] = { SHA1_SIZE, SHA256_SIZE };
	struct arena large = { 0 };
	enum git_index_result result = GIT_INDEX_DAMAGED;
	struct text entries = { .arena = &large };
	const char *digest = "none";
	size_t length;
	const char *bytes = read_index(&large, directory, &length);

	if (!length) // the copy of none
		bytes = NULL;
	for (size_t i = 0; bytes && i < ARRAY_SIZE(sizes) && result == GIT_INDEX_DAMAGED; i++)
		result = git_index_describe((const unsigned char *)bytes, length, sizes[i], &large,
					    &entries);
	if (bytes && result == GIT_INDEX_OK)
		digest = digest_hex_bytes(arena, text_get(&entries), entries.length, DIGITS);
	else if (bytes)
		digest = arena_printf(arena, BYTES "%s",
				      digest_hex_bytes(arena, bytes, length, DIGITS));
	arena_free(&large);
	return digest;
}

bool project_index_differs(const char *one, const char *other)
{
	return one && other && !str_equal(one, other) && !str_starts(one, BYTES) &&
	       !str_starts(other, BYTES);
}

const char *project_index_digest_copy(struct arena *arena, const char *session)
{
	return access(path_join(arena, session, "index"), F_OK) == 0
		       ? project_index_digest(arena, session)
		       : NULL;
}

// Returns false with the error that git's lock cannot be taken.
static bool refuse_lock(const char *git_directory, struct error *error)
{
	const char *path = path_join(error->arena, git_directory, "index.lock");

	if (errno != EEXIST)
		return write_fail(error, "create", path);
	error_set(error, "the git repository is locked: another git is running, or has left its "
			 "lock");
	return error_hint(error, "wait for it; if no git runs, remove '%s'",
			  quote_display(error->arena, path, 0));
}

bool project_index_prepare(struct project_index *index, const char *git_directory,
			   const char *session, struct error *error)
{
	struct arena arena = { 0 };
	CLEANUP_FD int directory = file_open(AT_FDCWD, git_directory, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int lock = -1;
	size_t length;
	const char *bytes = read_index(&arena, session, &length);
	bool ok = true;

	if (bytes) {
		lock = directory < 0
			       ? -1
			       : openat(directory, "index.lock",
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		ok = lock >= 0 || refuse_lock(git_directory, error);
		if (ok && !write_all(lock, bytes, length)) {
			ok = write_fail(error, "write",
					path_join(error->arena, git_directory, "index.lock"));
			unlinkat(directory, "index.lock", 0);
		}
		index->directory = ok ? take_fd(&directory) : -1;
		index->remove = !length;
	}
	arena_free(&arena);
	return ok;
}

bool project_index_replace(struct project_index *index, struct error *error)
{
	if (index->directory >= 0 && index->remove) {
		if (unlinkat(index->directory, "index", 0) < 0 && errno != ENOENT)
			return write_fail(error, "remove", "index");
		unlinkat(index->directory, "index.lock", 0);
	} else if (index->directory >= 0 &&
		   renameat(index->directory, "index.lock", index->directory, "index") < 0)
		return write_fail(error, "replace", "index");
	cleanup_close(&index->directory);
	index->directory = -1;
	return true;
}

void project_index_cancel(struct project_index *index)
{
	if (index->directory >= 0)
		unlinkat(index->directory, "index.lock", 0);
	cleanup_close(&index->directory);
	index->directory = -1;
}
