// SPDX-License-Identifier: MIT
// Symbolic links and special files in git directories, which git itself does not create.
//
// Theory of operation: git writes some files without a lock and a rename: reflogs, messages of
// commits, FETCH_HEAD. It follows a link there, also one that replaces a directory on the way. So a
// link of the box leads the next commit of the user into a hook, into the configuration or into any
// file of the user, and one at the place of modules or worktrees leads git to a configuration that
// no guard watches. A FIFO blocks git. Git creates no such entries but the ones of is_harmless(),
// so each one that the box has created is moved, whatever its name and its target. A link that is
// older than the session is the user's: git-new-workdir and repo create such repositories. It is
// recognised by its inode, because a directory with prepared links, which keep their time, can be
// renamed to any name. Links are found by events, and by one search of each git directory at the
// end: not all directories of references are watched.
#include "guard/git/links.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/known_places.h"
#include "guard/move_out.h"
#include "guard/rows.h"
#include "guard/search.h"
#include "guard/watcher.h"
#include "guard/watches.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TARGET_SIZE = 4096,
	MAX_DIRECTORIES = 300000, // of one git directory that are searched
	HASH_PREFIX = 3,          // length of the longest name of a directory of objects
};

#define WHY_LINK    "git follows it, and writes to the file that it leads to"
#define WHY_SPECIAL "git waits for the program at its other end"

// Directories of a git directory that git and its extensions write.
static const char *const git_parts[] = { "refs",         "logs",     "objects", "info",
					 "hooks",        "rr-cache", "modules", "worktrees",
					 "rebase-merge", "lfs",      "annex",   "rebase-apply",
					 "sequencer",    "remotes",  "svn",     "branches",
					 "reftable" };
static const char *const numerous_parts[] = { "refs", "logs", "rr-cache", "lfs", "annex" };

// Returns whether one of the names is the first component of a path that begins with '/'.
static bool begins_with_any(const char *path, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *rest = str_after(path + 1, names[i]);

		if (rest && (*rest == '\0' || *rest == '/'))
			return true;
	}
	return false;
}

// Returns the part of a path below a directory whose name says that it is a git directory.
static const char *below_git_name(const struct watcher *watcher, const char *path)
{
	const char *project = watcher->plan->project;
	const char *at = path_within(path, project) ? path + strlen(project) : path;

	while ((at = strstr(at, "/.git"))) {
		at += strlen("/.git");
		if (*at == '\0' || *at == '/')
			return at;
	}
	return NULL;
}

// Returns the part of a path below a git directory with another name. A bare repository can contain
// its worktrees too.
static const char *below_other(const char *path, const char *git_directory)
{
	const char *below = path_within(path, git_directory) ? path + strlen(git_directory) : NULL;

	return below && (!*below || begins_with_any(below, git_parts, ARRAY_SIZE(git_parts)))
		       ? below
		       : NULL;
}

const char *git_below(const struct watcher *watcher, const char *path)
{
	const char *below = below_git_name(watcher, path);

	for (size_t i = 0; !below && i < watcher->plan->guard.git_directories.count; i++)
		below = below_other(path, watcher->plan->guard.git_directories.items[i]);
	for (const struct repository *repository = watcher->repositories; !below && repository;
	     repository = repository->next)
		below = below_other(path, repository->path);
	for (const struct linked_directory *linked = watcher->linked; !below && linked;
	     linked = linked->next)
		if (path_within(path, linked->path))
			below = path + strlen(linked->path);
	return below;
}

// Returns whether a path has one of these directories as a component.
static bool has_numerous(const char *path)
{
	for (; path && *path; path = strchr(path + 1, '/'))
		if (begins_with_any(path, numerous_parts, ARRAY_SIZE(numerous_parts)))
			return true;
	return false;
}

bool git_is_numerous(const struct watcher *watcher, const char *path)
{
	// Nearly all directories of a large project have no such name.
	return has_numerous(path) && has_numerous(git_below(watcher, path));
}

bool git_has_objects(const char *directory, const char *name)
{
	// A branch can have any name, and a reflog has the name of its branch.
	return str_equal(path_name(directory), "objects") && strlen(name) <= HASH_PREFIX &&
	       !strstr(directory, "/refs/") && !strstr(directory, "/logs/");
}

static struct old_link **bucket_of(struct watcher *watcher, const struct stat *status)
{
	return &watcher->old_links[(size_t)status->st_ino % OLD_LINK_BUCKETS];
}

static bool is_id(const struct file_id *id, const struct stat *status)
{
	return id->device == status->st_dev && id->inode == status->st_ino;
}

// Returns whether an entry was noted as one of the user, and lies in the same directory.
static bool is_noted(struct watcher *watcher, const struct stat *status, const struct stat *parent)
{
	for (const struct old_link *link = *bucket_of(watcher, status); link; link = link->next)
		if (is_id(&link->id, status) && is_id(&link->parent, parent) &&
		    link->ctime.tv_sec == status->st_ctim.tv_sec &&
		    link->ctime.tv_nsec == status->st_ctim.tv_nsec)
			return true;
	return false;
}

// Notes the directory of the project that an old link of a git directory leads to: git writes there
// too.
static void note_linked(struct watcher *watcher, const char *path)
{
	const char *project = watcher->plan->project;
	const char *below = git_below(watcher, path);
	struct arena arena = { 0 };
	struct followed followed = file_follow(&arena, path);
	struct linked_directory *linked;

	if (!below || !begins_with_any(below, git_parts, ARRAY_SIZE(git_parts)) ||
	    followed.kind != FILE_DIRECTORY || !path_within(followed.real, project) ||
	    str_equal(followed.real, project) || git_below(watcher, followed.real))
		goto end;
	linked = calloc(1, sizeof(*linked));
	if (linked)
		*linked = (struct linked_directory){ .path = strdup(followed.real),
						     .next = watcher->linked };
	if (linked && linked->path)
		watcher->linked = linked;
	else
		free(linked);
end:
	arena_free(&arena);
}

static void note_old(struct watcher *watcher, const char *path, const struct stat *status,
		     const struct stat *parent)
{
	struct old_link **bucket = bucket_of(watcher, status);
	struct old_link *link = calloc(1, sizeof(*link));

	if (!link)
		return;
	*link = (struct old_link){ .id = file_identity(status),
				   .parent = file_identity(parent),
				   .ctime = status->st_ctim,
				   .next = *bucket };
	*bucket = link;
	if (S_ISLNK(status->st_mode))
		note_linked(watcher, path);
}

// Returns the innermost git directory that a directory is or lies in. NULL: there is none.
static const char *innermost_git(const struct watcher *watcher, struct arena *arena,
				 const char *directory)
{
	for (; git_below(watcher, directory); directory = path_parent(arena, directory)) {
		CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);

		if (fd >= 0 && git_directory_is(fd))
			return directory;
	}
	return NULL;
}

// Returns whether a directory below the git directory was changed in the session: the box may have
// renamed it.
static bool lies_in_changed(const struct watcher *watcher, struct arena *arena,
			    const char *directory, const char *git)
{
	struct stat status;

	for (; !str_equal(directory, git); directory = path_parent(arena, directory))
		if (lstat(directory, &status) == 0 &&
		    clock_is_later(&status.st_ctim, &watcher->start))
			return true;
	return false;
}

// Returns whether an entry is older than the session, and notes it.
static bool is_the_users(struct watcher *watcher, struct arena *arena, const char *directory,
			 const char *path, const struct stat *status, const struct stat *parent)
{
	const char *git;

	if (is_noted(watcher, status, parent))
		return true;
	if (watcher_is_new(watcher, path, status))
		return false;
	git = innermost_git(watcher, arena, directory);
	if (!git) // what becomes a git directory is searched then
		return true;
	// When all directories are known, an entry that is not came with a renamed directory.
	if ((watcher->complete && !watcher->finds_old_links) ||
	    lies_in_changed(watcher, arena, directory, git))
		return false;
	note_old(watcher, path, status, parent);
	return true;
}

static bool has_parent_part(const char *path)
{
	return strstr(path, "/../") || str_ends(path, "/..");
}

// Returns whether a name is that of the trial of `git init`: does the file system have links?
static bool is_trial(const char *name, const char *target)
{
	enum { RANDOM = 6 };

	if (name[0] != 't' || strlen(name) != 1 + RANDOM || !str_equal(target, "testing"))
		return false;
	for (size_t i = 1; i <= RANDOM; i++)
		if (!isalnum((unsigned char)name[i]))
			return false;
	return true;
}

// Returns whether a link is one that programs create. None leads out of its directory, and git
// opens no file with the name of the last two.
static bool is_harmless(int fd, const char *directory, const char *name)
{
	char target[TARGET_SIZE];
	ssize_t length = readlinkat(fd, name, target, sizeof(target) - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	// core.preferSymlinkRefs: git does not follow it, but reads it as the name of a reference.
	if (str_starts(target, "refs/") && !has_parent_part(target))
		return str_equal(name, "HEAD") || strstr(directory, "/refs/") ||
		       str_ends(directory, "/refs");
	// The lock of Emacs on a file that the user edits, such as the message of a commit.
	if (str_starts(name, ".#") && strchr(target, '@') && !strchr(target, '/'))
		return true;
	return is_trial(name, target);
}

void git_link_judge(struct watcher *watcher, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, name);
	CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
	struct stat status, parent;

	if (fd >= 0 && fstat(fd, &parent) == 0 &&
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode) &&
	    !S_ISDIR(status.st_mode) && !watcher_is_unprotected(watcher, path) &&
	    !known_covers(watcher, &arena, path) && !is_harmless(fd, directory, name) &&
	    !is_the_users(watcher, &arena, directory, path, &status, &parent))
		move_out(watcher, fd, path, name, S_ISLNK(status.st_mode) ? WHY_LINK : WHY_SPECIAL,
			 false);
	arena_free(&arena);
}

static bool has_head(const char *directory)
{
	struct arena arena = { 0 };
	struct stat status;
	bool found = lstat(path_join(&arena, directory, "HEAD"), &status) == 0;

	arena_free(&arena);
	return found;
}

// Judges an entry of a directory that is searched, and queues a directory.
static void search_entry(struct watcher *watcher, struct watches *queue, const char *directory,
			 const struct dirent *entry)
{
	const char *name = entry->d_name;
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, name);

	if (str_equal(name, ".") || str_equal(name, "..") || entry->d_type == DT_REG)
		return;
	if (entry->d_type != DT_DIR)
		git_link_judge(watcher, directory, name);
	// A submodule can have the name of a directory of objects, and a bare repository can
	// contain its worktrees.
	else if ((!git_has_objects(directory, name) || has_head(path)) && git_below(watcher, path))
		watches_queue(queue, path, false);
	arena_free(&arena);
}

// Searches directories of the queue. Adds those of submodules that no event has shown to *modules.
static void search_queue(struct watcher *watcher, struct watches *queue, struct arena *arena,
			 strings *modules)
{
	struct waiting waiting;
	size_t count = 0;

	while (watches_next(queue, &waiting)) {
		const char *path = arena_strdup(arena, waiting.path);
		int fd = count++ < MAX_DIRECTORIES ? search_open(watcher, path) : -1;
		CLEANUP_DIR DIR *stream = fd < 0 ? NULL : fdopendir(fd);
		const struct dirent *entry;

		free(waiting.path);
		if (fd >= 0 && !stream)
			close(fd);
		while (stream && (entry = readdir(stream)))
			search_entry(watcher, queue, path, entry);
		if (git_has_objects(path_parent(arena, path), path_name(path)))
			vec_push(arena, modules, path);
	}
	if (count > MAX_DIRECTORIES)
		watcher_tell(watcher, GUARD_FAILED, "a git directory has too many directories",
			     NULL);
}

void git_links_search(struct watcher *watcher, const char *path, bool old)
{
	struct arena arena = { 0 };
	struct watches queue = { 0 };
	strings modules = { 0 };

	watcher->finds_old_links = old;
	watches_queue(&queue, path, false);
	search_queue(watcher, &queue, &arena, &modules);
	watcher->finds_old_links = false;
	vec_each(module, &modules)
		git_directory_judge(watcher, *module);
	arena_free(&arena);
}

// Returns whether a directory is searched with another one of the list.
static bool is_contained(const strings *paths, const char *path)
{
	vec_each(other, paths) {
		if (!str_equal(*other, path) && below_other(path, *other))
			return true;
	}
	return false;
}

void git_links_finish(struct watcher *watcher)
{
	struct arena arena = { 0 };
	strings paths = { 0 };

	vec_each(directory, &watcher->plan->guard.git_directories)
		vec_push(&arena, &paths, *directory);
	for (const struct repository *repository = watcher->repositories; repository;
	     repository = repository->next)
		vec_push(&arena, &paths, arena_strdup(&arena, repository->path));
	for (const struct linked_directory *linked = watcher->linked; linked; linked = linked->next)
		vec_push(&arena, &paths, linked->path);
	for (size_t i = 0; i < paths.count; i++) {
		const char *path = paths.items[i];
		bool again = false;

		for (size_t j = 0; j < i; j++)
			again |= str_equal(paths.items[j], path);
		if (!again && !is_contained(&paths, path))
			git_links_search(watcher, path, false);
	}
	arena_free(&arena);
}
