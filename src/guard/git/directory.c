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
#include "guard/permissions.h"
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

enum {
	CONFIG_LIMIT = 1024 * 1024,
	POINTER_LIMIT = 4096,
	MAX_HOOKS = 1000,
	TEMPORARY_MS = 500,
	CLONE_MS = 2000, // from `git init` until it has read its configuration
};

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

static bool is_empty(struct arena *arena, int fd, const char *name)
{
	CLEANUP_FD int directory = file_open(fd, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	return directory >= 0 && !list_directory_up_to(arena, directory, ".", 1).count;
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
	may = repository && !repository->old && watcher->all_is_new && !watcher->box_ended &&
	      clock_monotonic_ms() - repository->found_ms < CLONE_MS &&
	      is_empty(&arena, fd, "refs/heads") && is_empty(&arena, fd, "refs/tags");
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
	CLEANUP_FD int files = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *stream = files < 0 ? NULL : open_directory_stream(files, ".");
	const char *path = path_join(&arena, directory, part);
	const char *temporary = NULL;
	const struct dirent *entry;
	struct stat status;
	bool all_new;
	int count = 0;

	if (git_part_is_left_alone(watcher, &arena, directory, part) ||
	    known_covers(watcher, &arena, path_join(&arena, path, "x")))
		goto end;
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
		watcher_postpone(watcher, path, temporary);
end:
	arena_free(&arena);
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

// Returns whether a path lies where git of this project may keep a git directory.
static bool is_own(const struct watcher *watcher, const char *path)
{
	vec_each(directory, &watcher->plan->guard.git_directories) {
		if (path_within(path, *directory))
			return true;
	}
	return path_within(path, watcher->plan->project);
}

// Returns the absolute path in a pointer, NULL: the file has none.
static const char *read_pointer(struct arena *arena, int fd, const char *directory,
				const char *name, const char *prefix)
{
	const char *text = file_read_at(arena, fd, name, POINTER_LIMIT);
	const char *target = text ? str_after(text, prefix) : NULL;

	if (!target)
		return NULL;
	target = arena_strndup(arena, target, strcspn(target, "\r\n"));
	return path_clean(arena, path_join(arena, directory, target));
}

// Judges a file that redirects git to another directory.
static void judge_redirect(struct watcher *watcher, int fd, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const char *target;
	struct stat status;
	bool worktree = str_equal(path_name(path_parent(&arena, directory)), "worktrees");

	if (!git_part_is_left_alone(watcher, &arena, directory, name) &&
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    watcher_is_new(watcher, directory, &status)) {
		watcher_watch_file(watcher, fd, name, path_join(&arena, directory, name));
		if (S_ISREG(status.st_mode) && !status.st_size && !watcher->box_ended)
			goto end; // it is being written; git refuses an empty file
		target = S_ISREG(status.st_mode) ? read_pointer(&arena, fd, directory, name, "")
						 : NULL;
		// The common directory of a linked worktree is two levels above.
		if (!target ||
		    !(worktree &&
		      str_equal(target, path_clean(&arena, path_join(&arena, directory, "../..")))))
			move_out(watcher, fd, path_join(&arena, directory, name), name,
				 git_part_reason(name), false);
	}
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
		    !is_own(watcher, path_clean(arena, path_join(arena, objects, line))))
			return false;
	return true;
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
			       ? file_read_at(&arena, objects, "alternates", CONFIG_LIMIT)
			       : NULL;
		if (!text || !alternates_are_own(watcher, &arena, text,
						 path_join(&arena, directory, "objects")))
			move_out(watcher, objects, path_join(&arena, path, "alternates"),
				 "alternates", git_part_reason("objects/info/alternates"), false);
	}
end:
	arena_free(&arena);
}

// Returns whether the `.git` of a worktree names this git directory. A box cannot write one outside
// of the project.
static bool names_back(struct arena *arena, const char *pointer, const char *directory)
{
	const char *text = file_read(arena, pointer, POINTER_LIMIT, 0);
	const char *target = text ? str_after(text, "gitdir: ") : NULL;

	return target &&
	       str_equal(path_clean(arena, path_join(arena, path_parent(arena, pointer),
						     arena_strndup(arena, target,
								   strcspn(target, "\r\n")))),
			 directory);
}

// Judges the file that names the worktree of a git directory, after the box has ended: git removes
// what it names, and writes it before the worktree.
static void judge_worktree(struct watcher *watcher, int fd, const char *directory)
{
	struct arena arena = { 0 };
	const char *target;
	struct stat status;

	if (watcher->box_ended &&
	    str_equal(path_name(path_parent(&arena, directory)), "worktrees") &&
	    !git_part_is_left_alone(watcher, &arena, directory, "gitdir") &&
	    fstatat(fd, "gitdir", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    watcher_is_new(watcher, directory, &status)) {
		target = S_ISREG(status.st_mode) ? read_pointer(&arena, fd, directory, "gitdir", "")
						 : NULL;
		if (!target || (!is_own(watcher, file_follow(&arena, target).real) &&
				!names_back(&arena, target, directory)))
			move_out(watcher, fd, path_join(&arena, directory, "gitdir"), "gitdir",
				 git_part_reason("gitdir"), false);
	}
	arena_free(&arena);
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

// Mounts over the hooks of a repository further down. Not over their directory: a box may remove a
// repository that has only samples.
static void protect_hooks(struct watcher *watcher, int fd, const char *path)
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

// Returns the record of a git directory, and adds one for a new one. NULL: no memory is left.
static struct repository *find_repository(struct watcher *watcher, int fd, const char *path)
{
	struct file_id id = identify(fd, ".");
	struct repository *repository = watcher->repositories;

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
	for (size_t i = 0; i < REPOSITORY_PARTS; i++)
		repository->parts[i] = identify(fd, parts[i]);
	repository->next = watcher->repositories;
	watcher->repositories = repository;
	if (repository->old && !is_listed(watcher, path) && !watcher->plan->guard.recovering &&
	    !watcher->box_ended)
		protect_hooks(watcher, fd, path);
	return repository;
}

static void judge_parts(struct watcher *watcher, const struct repository *repository, int fd,
			const char *path)
{
	judge_redirect(watcher, fd, path, "commondir");
	judge_worktree(watcher, fd, path);
	git_config_judge(watcher, fd, path, "config");
	git_config_judge(watcher, fd, path, "config.worktree");
	judge_files(watcher, repository, fd, path, "hooks");
	judge_files(watcher, repository, fd, path, "remotes");
	judge_files(watcher, repository, fd, path, "branches");
	judge_attributes(watcher, repository, fd, path);
	judge_alternates(watcher, repository, fd, path);
	if (watcher->box_ended)
		unfinished_judge(watcher, fd, path);
}

void git_directory_judge(struct watcher *watcher, const char *path)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	struct search *search = watcher->search;
	const struct repository *repository;

	if (fd < 0 || !git_directory_is(fd))
		return;
	repository = find_repository(watcher, fd, path);
	watcher->all_is_new = !watcher->plan->guard.recovering && !(repository && repository->old);
	// The directories of an old repository are recognised by their inodes.
	if (repository && repository->old)
		watcher->search = NULL;
	judge_parts(watcher, repository, fd, path);
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
	char link[POINTER_LIMIT];
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
		target = read_pointer(&arena, fd, directory, name, "gitdir: ");
		if (!target && status.st_size < POINTER_LIMIT) // git does not follow it
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
	if (target && is_own(watcher, target))
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
			       ? read_pointer(arena, fd, top, ".git", "gitdir: ")
			       : NULL;
	}
	*ret_top = guard->worktree;
	return guard->git_directory;
}
