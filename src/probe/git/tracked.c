// SPDX-License-Identifier: MIT
// Which paths git tracks, by its index.
//
// Theory of operation: a box can write the index, so git itself, which would follow the index and
// the configuration of a hostile repository, is not run. The index is read into memory, not mapped:
// a box could truncate a mapped file.
#include "probe/git/tracked.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_LIMIT = 512 * 1024 * 1024, SHA1_SIZE = 20, SHA256_SIZE = 32 };

struct search {
	const char *const *paths;
	size_t count;
	bool *tracked;
};

struct tracked tracked_open(const char *git_directory)
{
	struct arena arena = { 0 };
	CLEANUP_FD int fd = file_open(AT_FDCWD, path_join(&arena, git_directory, "index"),
				      O_RDONLY | O_NONBLOCK);
	struct tracked tracked = { 0 };
	struct stat status;

	arena_free(&arena);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    status.st_size > INDEX_LIMIT)
		return tracked;
	tracked.id = file_identity(&status);
	tracked.change_ns = clock_ns(&status.st_ctim);
	tracked.bytes = malloc((size_t)status.st_size);
	while (tracked.bytes && tracked.size < (size_t)status.st_size) {
		ssize_t got = read(fd, tracked.bytes + tracked.size,
				   (size_t)status.st_size - tracked.size);

		if (got <= 0)
			break;
		tracked.size += (size_t)got;
	}
	return tracked;
}

// Compares one entry with all paths.
static bool compare(void *context, const struct git_index_entry *entry)
{
	struct search *search = context;
	const char *path = entry->path;
	size_t length = entry->length;

	for (size_t i = 0; i < search->count; i++) {
		size_t wanted = strlen(search->paths[i]);

		if (length >= wanted && memcmp(path, search->paths[i], wanted) == 0 &&
		    (length == wanted || path[wanted] == '/'))
			search->tracked[i] = true;
		// A sparse index has directories in place of files.
		if (length && path[length - 1] == '/' && wanted > length &&
		    memcmp(path, search->paths[i], length) == 0)
			search->tracked[i] = true;
	}
	return true;
}

// Passes all entries to a handler. Returns false if the index cannot be understood.
static bool walk(const struct tracked *tracked, git_index_handler handle, void *context)
{
	struct arena arena = { 0 };
	enum git_index_result result =
		git_index_walk(tracked->bytes, tracked->size, SHA1_SIZE, &arena, handle, context);

	if (result == GIT_INDEX_DAMAGED)
		result = git_index_walk(tracked->bytes, tracked->size, SHA256_SIZE, &arena, handle,
					context);
	arena_free(&arena);
	return result == GIT_INDEX_OK;
}

bool tracked_find(const struct tracked *tracked, const char *const *paths, size_t count,
		  bool *ret_tracked)
{
	struct search search = { .paths = paths, .count = count, .tracked = ret_tracked };

	memset(ret_tracked, 0, count * sizeof(*ret_tracked));
	if (!tracked->bytes || !count || walk(tracked, compare, &search))
		return true;
	memset(ret_tracked, 1, count * sizeof(*ret_tracked));
	return false;
}

struct exact {
	const char *path;
	bool found;
};

static bool has_path(const struct git_index_entry *entry, const char *path)
{
	return strlen(path) == entry->length && memcmp(path, entry->path, entry->length) == 0;
}

static bool compare_exactly(void *context, const struct git_index_entry *entry)
{
	struct exact *exact = context;

	exact->found |= has_path(entry, exact->path);
	return !exact->found;
}

bool tracked_has(const struct tracked *tracked, const char *path)
{
	struct exact exact = { .path = path };

	if (tracked->bytes)
		walk(tracked, compare_exactly, &exact);
	return exact.found;
}

struct content {
	const char *path;
	const char *hex;
	uint32_t type;
	size_t entries;
	bool same;
};

static bool compare_content(void *context, const struct git_index_entry *entry)
{
	struct content *content = context;
	char hex[2 * SHA1_SIZE + 1];

	if (!has_path(entry, content->path))
		return true;
	for (size_t i = 0; i < SHA1_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", entry->id[i]);
	content->entries++;
	content->same = (entry->mode & GIT_MODE_TYPE) == content->type &&
			str_equal(hex, content->hex);
	return true;
}

enum tracked_content tracked_compare(const struct tracked *tracked, const char *path,
				     const char *hex, bool link)
{
	struct arena arena = { 0 };
	struct content content = { .path = path,
				   .hex = hex,
				   .type = link ? GIT_MODE_SYMLINK : GIT_MODE_FILE };
	enum git_index_result result =
		tracked->bytes ? git_index_walk(tracked->bytes, tracked->size, SHA1_SIZE, &arena,
						compare_content, &content)
			       : GIT_INDEX_DAMAGED;

	arena_free(&arena);
	if (result != GIT_INDEX_OK)
		return TRACKED_UNKNOWN;
	// A path of a merge that is not finished has several entries.
	if (hex ? content.entries == 1 && content.same : !content.entries)
		return TRACKED_SAME;
	return TRACKED_DIFFERS;
}

struct wish {
	bool (*wanted)(const char *path, uint32_t mode);
	bool found;
};

static bool ask(void *context, const struct git_index_entry *entry)
{
	struct wish *wish = context;

	wish->found = wish->wanted(entry->path, entry->mode);
	return !wish->found;
}

bool tracked_any(const struct tracked *tracked, bool (*wanted)(const char *path, uint32_t mode))
{
	struct wish wish = { .wanted = wanted };

	return tracked->bytes && (!walk(tracked, ask, &wish) || wish.found);
}

bool tracked_each(const struct tracked *tracked, git_index_handler handle, void *context)
{
	return !tracked->bytes || walk(tracked, handle, context);
}

void tracked_close(struct tracked *tracked)
{
	free(tracked->bytes);
	*tracked = (struct tracked){ 0 };
}
