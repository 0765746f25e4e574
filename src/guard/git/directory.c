// SPDX-License-Identifier: MIT
// Judges a git directory by its content: what git would execute is moved to quarantine.
//
// Theory of operation: repositories inside the project cannot be forbidden, because clones,
// worktrees and new packages create them. Git executes programs of a repository in three ways: the
// hooks in it, settings of its configuration, and pointers to another git directory that has them.
// A hook that is executable and not a sample is moved. A configuration is moved if it has a setting
// that is not known to be harmless, and a file without these settings takes its place, so that the
// repository stays usable. A pointer may lead into the project or to the project's repository; the
// git directory there is judged too. What a repository had before the session is the user's.
#include "guard/git/directory.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/config.h"
#include "guard/git/links.h"
#include "guard/git/parts.h"
#include "guard/git/pointers.h"
#include "guard/git/unfinished.h"
#include "guard/known_places.h"
#include "guard/move_out.h"
#include "guard/watcher.h"
#include "plan/facts.h"
#include "plan/guard/keys.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLONE_MS = 2000 }; // from `git init` until it has read its configuration

// Git does not look at the kind of these files.
static bool has(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, 0) == 0;
}

static struct file_id identify(int fd, const char *name)
{
	struct stat status;

	return fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? file_identity(&status)
								    : (struct file_id){ 0 };
}

bool git_directory_is(int fd)
{
	struct stat status;

	return fstatat(fd, "HEAD", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ((has(fd, "objects") && has(fd, "refs")) || has(fd, "commondir"));
}

bool git_directory_may_be(int fd, const char *path)
{
	return str_equal(path_name(path), ".git") || git_directory_is(fd);
}

static bool is_empty(struct arena *arena, int fd, const char *name)
{
	CLEANUP_FD int directory = file_open(fd, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	return directory < 0 ? errno == ENOENT
			     : !list_directory_up_to(arena, directory, ".", 1).count;
}

// Returns whether a directory was created a moment ago. It is no git directory yet: `git init` has
// not come so far, or had not when that was examined.
static bool is_created_lately(int fd)
{
	struct statx status;

	return statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) == 0 &&
	       (status.stx_mask & STATX_BTIME) &&
	       clock_realtime_ms() - ((int64_t)status.stx_btime.tv_sec * 1000 +
				      status.stx_btime.tv_nsec / 1000000) <
		       CLONE_MS;
}

bool git_directory_may_be_cloned(const struct watcher *watcher, int fd)
{
	static const char *const later[] = { "packed-refs", "index", "refs/remotes", "reftable" };
	const struct repository *repository = watcher->repositories;
	struct file_id id = identify(fd, ".");
	struct arena arena = { 0 };
	bool may;

	while (repository &&
	       (repository->id.device != id.device || repository->id.inode != id.inode))
		repository = repository->next;
	may = (repository ? !repository->old && watcher->all_is_new &&
				    clock_monotonic_ms() - repository->found_ms < CLONE_MS
			  : is_created_lately(fd)) &&
	      !watcher->box_ended && is_empty(&arena, fd, "refs/heads") &&
	      is_empty(&arena, fd, "refs/tags");
	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		may = may && !has(fd, later[i]);
	arena_free(&arena);
	return may;
}

bool git_is_module(const char *directory)
{
	return strstr(directory, "/.git/modules/");
}

const char *git_part_reason(const char *name)
{
	const struct guard_row *row = guard_find_in_git(name);

	return row ? row->why : "git trusts it";
}

bool git_part_is_left_alone(const struct watcher *watcher, struct arena *arena,
			    const char *directory, const char *name)
{
	const char *path = path_join(arena, directory, name);

	return watcher_is_unprotected(watcher, path) ||
	       (watcher->plan->guard.recovering && known_find(watcher, path));
}

// Returns whether a git directory belonged to the project before the session.
static bool is_listed(const struct watcher *watcher, const char *path)
{
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (str_equal(*directory, path))
			return true;
	}
	return false;
}

bool git_is_own(const struct watcher *watcher, const char *path)
{
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (path_within(path, *directory))
			return true;
	}
	return path_within(path, watcher->plan->project);
}

// Returns whether an entry of a git directory exists and is older than the session.
static bool is_old(const struct watcher *watcher, int fd, const char *path, const char *name)
{
	struct stat status;

	return fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !watcher_is_new(watcher, path, &status);
}

// Returns whether a git directory was one before the session.
static bool is_old_repository(const struct watcher *watcher, int fd, const char *path)
{
	return is_old(watcher, fd, path, "HEAD") &&
	       (is_old(watcher, fd, path, "commondir") ||
		(is_old(watcher, fd, path, "objects") && is_old(watcher, fd, path, "refs")));
}

// Notes that the box has renamed a directory around a git directory.
static void change_path(struct watcher *watcher, struct repository *repository, const char *path)
{
	struct arena arena = { 0 };
	char *copy = strdup(path);

	for (struct baseline *baseline = watcher->baselines; copy && baseline;
	     baseline = baseline->next) {
		const char *below = str_after(baseline->path, repository->path);
		char *renamed = below && *below == '/'
					? strdup(arena_printf(&arena, "%s%s", path, below))
					: NULL;

		if (renamed) {
			free(baseline->path);
			baseline->path = renamed;
		}
	}
	if (copy) {
		free(repository->path);
		repository->path = copy;
	}
	arena_free(&arena);
}

// Returns the record of a git directory, and adds one for a new one. NULL: no memory is left.
static struct repository *find_repository(struct watcher *watcher, int fd, const char *path,
					  bool *ret_added)
{
	struct file_id id = identify(fd, ".");
	struct repository *repository = watcher->repositories;

	*ret_added = false;
	while (repository &&
	       (repository->id.device != id.device || repository->id.inode != id.inode))
		repository = repository->next;
	if (repository && !str_equal(repository->path, path))
		change_path(watcher, repository, path);
	if (repository)
		return repository;
	repository = calloc(1, sizeof(*repository));
	if (repository)
		repository->path = strdup(path);
	if (!repository || !repository->path) {
		free(repository);
		return NULL;
	}
	repository->id = id;
	repository->found_ms = clock_monotonic_ms();
	repository->old = is_listed(watcher, path) || is_old_repository(watcher, fd, path);
	git_parts_identify(repository, fd);
	repository->next = watcher->repositories;
	watcher->repositories = repository;
	*ret_added = true;
	if (repository->old && !is_listed(watcher, path) && !watcher->plan->guard.recovering &&
	    !watcher->box_ended)
		git_parts_protect_hooks(watcher, fd, path);
	return repository;
}

static void judge_parts(struct watcher *watcher, const struct repository *repository, int fd,
			const char *path)
{
	git_pointers_judge(watcher, fd, path);
	git_config_judge(watcher, fd, path, "config");
	git_config_judge(watcher, fd, path, "config.worktree");
	git_parts_judge(watcher, repository, fd, path);
	if (watcher->box_ended)
		unfinished_judge(watcher, fd, path);
}

void git_directory_judge(struct watcher *watcher, const char *path)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	struct search *search = watcher->search;
	const struct repository *repository;
	bool recovering = watcher->plan->guard.recovering;
	bool added;

	if (fd < 0)
		return;
	if (!git_directory_is(fd)) {
		if (str_equal(path_name(path), ".git"))
			judge_parts(watcher, NULL, fd, path);
		return;
	}
	repository = find_repository(watcher, fd, path, &added);
	watcher->all_is_new = !recovering && !(repository && repository->old);
	// The directories of an old repository are recognised by their inodes.
	if (repository && repository->old)
		watcher->search = NULL;
	judge_parts(watcher, repository, fd, path);
	// At the start, an old repository is searched with the project.
	if (repository && added && (!repository->old || watcher->complete))
		git_links_search(watcher, path, repository->old || recovering);
	watcher->all_is_new = false;
	watcher->search = search;
}

void git_directories_finish(struct watcher *watcher)
{
	struct arena arena = { 0 };
	strings paths = { 0 };

	vec_each(directory, &watcher->plan->guard.git_directories)
		vec_push(&arena, &paths, *directory);
	for (const struct repository *repository = watcher->repositories; repository;
	     repository = repository->next)
		vec_push(&arena, &paths, arena_strdup(&arena, repository->path));
	vec_each(path, &paths)
		git_directory_judge(watcher, *path);
	arena_free(&arena);
}

static bool is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void git_pointer_judge(struct watcher *watcher, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
	const char *path = path_join(&arena, directory, name);
	const char *target = NULL;
	char link[GIT_POINTER_LIMIT];
	struct stat status;
	ssize_t length;

	if (fd < 0 || fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		goto end;
	if (S_ISDIR(status.st_mode)) {
		git_directory_judge(watcher, path);
		goto end;
	}
	if (S_ISREG(status.st_mode)) {
		watcher_watch_file(watcher, fd, name, path);
		target = git_pointer_read(&arena, fd, directory, name, "gitdir: ");
		if (!target && status.st_size < GIT_POINTER_LIMIT) // git does not follow it
			goto end;
	} else if (S_ISLNK(status.st_mode)) {
		length = readlinkat(fd, name, link, sizeof(link) - 1);
		if (length > 0) {
			link[length] = '\0';
			target = path_clean(&arena, path_join(&arena, directory, link));
		}
	}
	if (target)
		target = file_follow(&arena, target).real;
	// A link to a file with the path of a git directory: that file is not watched.
	if (target && S_ISLNK(status.st_mode) && !is_directory(target))
		target = NULL;
	if (target && git_is_own(watcher, target))
		git_directory_judge(watcher, target);
	else if (watcher_is_new(watcher, path, &status))
		move_out(watcher, fd, path, name, guard_find(".git")->why, false);
end:
	arena_free(&arena);
}

const char *git_directory_of(struct watcher *watcher, struct arena *arena, const char *directory,
			     const char **ret_top)
{
	const struct plan_guard *guard = &watcher->plan->guard;

	for (const char *top = directory; path_within(top, watcher->plan->project);
	     top = path_parent(arena, top)) {
		const char *path = path_join(arena, top, ".git");
		CLEANUP_FD int fd = -1;
		struct stat status;

		*ret_top = top;
		if (guard->worktree && str_equal(top, guard->worktree))
			return guard->git_directory;
		if (lstat(path, &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode))
			return path;
		fd = file_open(AT_FDCWD, top, O_PATH | O_DIRECTORY);
		return S_ISREG(status.st_mode) && fd >= 0
			       ? git_pointer_read(arena, fd, top, ".git", "gitdir: ")
			       : NULL;
	}
	*ret_top = guard->worktree;
	return guard->git_directory;
}
