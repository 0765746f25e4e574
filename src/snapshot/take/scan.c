// SPDX-License-Identifier: MIT
// Compares the files of the project with the index of the snapshots, without git.
//
// Theory of operation: `git update-index` takes 90 ms for 50,000 unchanged files and writes the
// index again. This takes a half of it, beside `git ls-files`, and gives the permissions too. A
// file counts as unchanged only if everything that git compares is equal, with nanoseconds, and if
// it was last changed some seconds before the index was written. git looks at all others. It would
// pass over a file of which only the nanoseconds differ, because a box can set the time of the last
// write, so git has to forget such a file first. The index
// is in the store, out of the reach of boxes, and a box cannot set the time of the last change of a
// status (ctime). Directories are opened without following links: behind a link, nothing is
// unchanged.
#include "snapshot/take/scan.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "probe/git/tracked.h"
#include "snapshot/store.h"
#include "snapshot/take/modes.h"
#include "snapshot/take/path_set.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	// A file that changes within one tick of the clock after git has read it looks unchanged.
	RECENT_SECONDS = 2,
	LOOKS_AT_CLOCK = 256, // files between two looks
	MOST_REPOSITORIES = 300,
};

struct progress {
	struct scan *scan;
	struct arena *arena;
	struct usual_modes usual;
	int project;
	int directory;      // of the last file, -1: it cannot be opened
	const char *parent; // its path, with a slash at the end; NULL: none was opened
	size_t parent_length;
	const char *last;      // path, NULL: none
	int64_t index_seconds; // when the index was written
	int64_t until_ms;
	size_t count;
	bool late;
};

// Opens the directory of a path, unless it is that of the last one.
static void open_directory(struct progress *progress, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) + 1 : 0;

	if (progress->parent && progress->parent_length == length &&
	    memcmp(progress->parent, path, length) == 0)
		return;
	cleanup_close(&progress->directory);
	progress->parent = arena_strndup(progress->arena, path, length);
	progress->parent_length = length;
	progress->directory =
		file_open(progress->project, length ? progress->parent : ".", O_PATH | O_DIRECTORY);
}

// Notes repositories in the directories of a path that the path before did not have.
static void note_repositories(struct progress *progress, const char *path)
{
	struct scan *scan = progress->scan;
	const char *last = progress->last ? progress->last : "";
	const char *slash = path;
	size_t same = 0;

	while (path[same] && path[same] == last[same])
		same++;
	progress->last = path;
	while ((slash = strchr(slash + (slash != path), '/'))) {
		size_t length = (size_t)(slash - path);
		const char *directory;

		if (length < same || scan->repositories.count == MOST_REPOSITORIES)
			continue;
		directory = arena_strndup(progress->arena, path, length);
		if (faccessat(progress->project, path_join(progress->arena, directory, ".git"),
			      F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			vec_push(progress->arena, &scan->repositories, directory);
	}
}

// Returns whether a file is what git has read, in the eyes of git: it compares times by their
// seconds.
static bool looks_unchanged(const struct git_index_entry *entry,
			    const struct git_index_status *known, const struct stat *status)
{
	uint32_t mode = S_ISLNK(status->st_mode) ? GIT_MODE_SYMLINK
			: status->st_mode & 0100 ? GIT_MODE_FILE | 0755
						 : GIT_MODE_FILE | 0644;

	return (S_ISREG(status->st_mode) || S_ISLNK(status->st_mode)) && entry->mode == mode &&
	       known->ctime == (uint32_t)status->st_ctim.tv_sec &&
	       known->mtime == (uint32_t)status->st_mtim.tv_sec &&
	       known->inode == (uint32_t)status->st_ino && known->user == status->st_uid &&
	       known->group == status->st_gid && known->size == (uint32_t)status->st_size;
}

// Returns whether a file that looks unchanged is so.
static bool is_unchanged(const struct git_index_status *known, const struct stat *status,
			 int64_t index_seconds)
{
	return known->ctime_ns == (uint32_t)status->st_ctim.tv_nsec &&
	       known->mtime_ns == (uint32_t)status->st_mtim.tv_nsec &&
	       status->st_ctim.tv_sec + RECENT_SECONDS < index_seconds &&
	       status->st_mtim.tv_sec + RECENT_SECONDS < index_seconds;
}

// Compares the file of an entry.
static bool compare(void *context, const struct git_index_entry *entry)
{
	struct progress *progress = context;
	const char *path = arena_strndup(progress->arena, entry->path, entry->length);
	const char *slash = strrchr(path, '/');
	struct git_index_status known = git_index_status_of(entry);
	struct scan *scan = progress->scan;
	struct stat status;

	path_set_add(&progress->scan->known, progress->arena, path);
	if (++progress->count % LOOKS_AT_CLOCK == 0)
		progress->late |= clock_monotonic_ms() >= progress->until_ms;
	if (!progress->late) {
		note_repositories(progress, path);
		open_directory(progress, path);
	}
	if (progress->late || progress->directory < 0 ||
	    fstatat(progress->directory, slash ? slash + 1 : path, &status, AT_SYMLINK_NOFOLLOW) <
		    0 ||
	    !looks_unchanged(entry, &known, &status)) {
		text_add_bytes(&scan->changed, path, entry->length + 1);
	} else if (!is_unchanged(&known, &status, progress->index_seconds)) {
		text_add_bytes(&scan->changed, path, entry->length + 1);
		text_add_bytes(&scan->doubtful, path, entry->length + 1);
	} else {
		modes_add_file(&scan->modes, &progress->usual, path, &status);
	}
	return true;
}

struct scan scan_index(const struct store *store, struct arena *arena, int64_t until_ms)
{
	struct scan scan = { .changed.arena = arena,
			     .doubtful.arena = arena,
			     .modes.arena = arena };
	CLEANUP_FD int project = open(store->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct progress progress = { .scan = &scan,
				     .arena = arena,
				     .usual = modes_usual(),
				     .project = project,
				     .directory = -1,
				     .until_ms = until_ms };
	struct tracked index;
	struct stat status;

	if (fstatat(store->directory, "index", &status, AT_SYMLINK_NOFOLLOW) < 0)
		return scan;
	progress.index_seconds = status.st_mtim.tv_sec;
	index = tracked_open(store->path);
	tracked_each(&index, compare, &progress);
	tracked_close(&index);
	cleanup_close(&progress.directory);
	return scan;
}
