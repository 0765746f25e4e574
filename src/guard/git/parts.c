// SPDX-License-Identifier: MIT
// Judges the directories of a git directory whose files git executes or trusts: hooks, addresses of
// remotes, attributes, alternates.
#include "guard/git/parts.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/known_places.h"
#include "guard/move_out.h"
#include "guard/pending.h"
#include "guard/permissions.h"
#include "guard/watcher.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ALTERNATES_LIMIT = 1024 * 1024,
	MAX_HOOKS = 1000,
	TEMPORARY_MS = 500,
};

// Returns whether git uses a file of the directory: it runs a hook only if it is executable.
static bool is_used(const char *part, const char *name, const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		return false;
	if (!str_equal(part, "hooks"))
		return true;
	return !str_ends(name, ".sample") && (S_ISLNK(status->st_mode) || (status->st_mode & 0111));
}

// The directories of a git directory whose files are judged.
static const char *const parts[REPOSITORY_PARTS] = { "hooks", "remotes", "branches", "info",
						     "objects/info" };

// Returns whether a directory of a git directory is another one than when it was found, or may be:
// without events, the box may have renamed one to this name, and its files keep their time.
static bool part_is_new(const struct watcher *watcher, const struct repository *repository,
			const char *path, int fd, const char *part)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return false;
	if ((!watcher->complete || watcher->plan->guard.recovering) &&
	    watcher_is_new(watcher, path, &status))
		return true;
	for (size_t i = 0; repository && repository->old && i < REPOSITORY_PARTS; i++)
		if (str_equal(parts[i], part))
			return repository->parts[i].device != status.st_dev ||
			       repository->parts[i].inode != status.st_ino;
	return false;
}

// Moves a link that is at the place of a directory: git follows it.
static void judge_link(struct watcher *watcher, int fd, const char *directory, const char *part)
{
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, part);
	struct stat status;

	if (fstatat(fd, part, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode) &&
	    watcher_is_new(watcher, path, &status)) {
		CLEANUP_FD int parent =
			file_open(AT_FDCWD, path_parent(&arena, path), O_PATH | O_DIRECTORY);

		if (parent >= 0)
			move_out(watcher, parent, path, path_name(path), git_part_reason(part),
				 false);
	}
	arena_free(&arena);
}

// Returns whether the box cannot write a file of an open directory.
static bool is_protected_file(const struct watcher *watcher, int directory, const char *path)
{
	struct stat parent;

	return fstat(directory, &parent) == 0 &&
	       known_find_protected(watcher, path, file_identity(&parent), false);
}

// Watches a file itself, not its name.
static void watch_file(struct watcher *watcher, int directory, const char *name, const char *path)
{
	CLEANUP_FD int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool added;

	if (fd >= 0)
		watches_add(&watcher->watches, fd, path, WATCH_FILE, &added);
}

// Returns whether a file may be one that an editor of the user renames to a hook in a moment, as
// `sed -i` does. The names of hooks have a '-', except `update`.
static bool may_be_temporary(const struct watcher *watcher, const char *part, const char *name,
			     const struct stat *status)
{
	return str_equal(part, "hooks") && !strchr(name, '-') && !str_starts(name, "update") &&
	       !watcher->box_ended && !watcher->plan->guard.recovering &&
	       clock_realtime_ms() - clock_ms(&status->st_ctim) < TEMPORARY_MS;
}

// Moves the files of a directory that git would use: hooks, and addresses of remotes.
static void judge_files(struct watcher *watcher, const struct repository *repository, int fd,
			const char *directory, const char *part)
{
	struct arena arena = { 0 };
	CLEANUP_FD int files = -1;
	CLEANUP_DIR DIR *stream = NULL;
	const char *path = path_join(&arena, directory, part);
	const char *temporary = NULL;
	const struct dirent *entry;
	struct stat status;
	bool all_new;
	int count = 0;

	if (git_part_is_left_alone(watcher, &arena, directory, part) ||
	    known_covers(watcher, &arena, path_join(&arena, path, "x")))
		goto end;
	files = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	stream = files < 0 ? NULL : open_directory_stream(files, ".");
	if (files < 0)
		judge_link(watcher, fd, directory, part);
	if (files >= 0 && !stream && errno == EACCES && permissions_lend(watcher, files, S_IRWXU))
		stream = open_directory_stream(files, ".");
	all_new = part_is_new(watcher, repository, path, files, part);
	while (stream && (entry = readdir(stream)) && count++ < MAX_HOOKS) {
		const char *name = entry->d_name;

		if (str_equal(name, ".") || str_equal(name, "..") ||
		    fstatat(files, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		// It may become executable, by a descriptor with another name.
		if (S_ISREG(status.st_mode) && !(status.st_mode & 0111))
			watch_file(watcher, files, name, path_join(&arena, path, name));
		if (!is_used(part, name, &status) ||
		    is_protected_file(watcher, files, path_join(&arena, path, name)) ||
		    !(all_new || watcher_is_new(watcher, path, &status)))
			continue;
		if (may_be_temporary(watcher, part, name, &status))
			temporary = temporary ? temporary : arena_strdup(&arena, name);
		else
			move_out(watcher, files, path_join(&arena, path, name), name,
				 git_part_reason(part), false);
	}
	// One entry: the directory as a whole is judged again.
	if (temporary)
		pending_add(watcher, path, temporary);
end:
	arena_free(&arena);
}

static void judge_attributes(struct watcher *watcher, const struct repository *repository, int fd,
			     const char *directory)
{
	struct arena arena = { 0 };
	CLEANUP_FD int info = openat(fd, "info", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *path = path_join(&arena, directory, "info");
	struct stat status;

	if (git_part_is_left_alone(watcher, &arena, directory, "info/attributes"))
		goto end;
	if (info < 0)
		judge_link(watcher, fd, directory, "info");
	else if (fstatat(info, "attributes", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		 (part_is_new(watcher, repository, path, info, "info") ||
		  watcher_is_new(watcher, path, &status)))
		move_out(watcher, info, path_join(&arena, path, "attributes"), "attributes",
			 git_part_reason("info/attributes"), false);
end:
	arena_free(&arena);
}

// Returns whether all repositories of an alternates file are in the project.
static bool alternates_are_own(struct watcher *watcher, struct arena *arena, const char *text,
			       const char *objects)
{
	const char *line;

	while ((line = str_next_line(arena, &text)))
		if (*line && *line != '#' &&
		    !git_is_own(watcher, path_clean(arena, path_join(arena, objects, line))))
			return false;
	return true;
}

static void judge_alternates(struct watcher *watcher, const struct repository *repository, int fd,
			     const char *directory)
{
	struct arena arena = { 0 };
	CLEANUP_FD int objects = file_open(fd, "objects/info", O_PATH | O_DIRECTORY);
	const char *path = path_join(&arena, directory, "objects/info");
	struct stat status;
	const char *text;

	if (git_part_is_left_alone(watcher, &arena, directory, "objects/info/alternates"))
		goto end;
	if (objects < 0) {
		judge_link(watcher, fd, directory, "objects/info");
	} else if (fstatat(objects, "alternates", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		   (part_is_new(watcher, repository, path, objects, "objects/info") ||
		    watcher_is_new(watcher, path, &status))) {
		text = S_ISREG(status.st_mode)
			       ? file_read_at(&arena, objects, "alternates", ALTERNATES_LIMIT)
			       : NULL;
		if (!text || !alternates_are_own(watcher, &arena, text,
						 path_join(&arena, directory, "objects")))
			move_out(watcher, objects, path_join(&arena, path, "alternates"),
				 "alternates", git_part_reason("objects/info/alternates"), false);
	}
end:
	arena_free(&arena);
}

void git_parts_protect_hooks(struct watcher *watcher, int fd, const char *path)
{
	struct arena arena = { 0 };
	CLEANUP_FD int hooks = openat(fd, "hooks", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *stream = hooks < 0 ? NULL : open_directory_stream(hooks, ".");
	const struct dirent *entry;
	struct stat status;
	int count = 0;

	while (stream && (entry = readdir(stream)) && count++ < MAX_HOOKS)
		if (fstatat(hooks, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && is_used("hooks", entry->d_name, &status) &&
		    !watcher_is_new(watcher, path, &status))
			known_protect_old(watcher, hooks, entry->d_name,
					  arena_printf(&arena, "%s/hooks/%s", path, entry->d_name),
					  guard_find_in_git("hooks"));
	arena_free(&arena);
}

void git_parts_identify(struct repository *repository, int fd)
{
	for (size_t i = 0; i < REPOSITORY_PARTS; i++) {
		struct stat status;

		if (fstatat(fd, parts[i], &status, AT_SYMLINK_NOFOLLOW) == 0)
			repository->parts[i] = file_identity(&status);
	}
}

void git_parts_judge(struct watcher *watcher, const struct repository *repository, int fd,
		     const char *path)
{
	judge_files(watcher, repository, fd, path, "hooks");
	judge_files(watcher, repository, fd, path, "remotes");
	judge_files(watcher, repository, fd, path, "branches");
	judge_attributes(watcher, repository, fd, path);
	judge_alternates(watcher, repository, fd, path);
}
