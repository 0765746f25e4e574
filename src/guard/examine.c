// SPDX-License-Identifier: MIT
// Examines an entry of the project that was created, changed or found.
//
// Theory of operation: an event names a directory and an entry, but the box may have changed both
// since. So the directory is opened again without following a link, and only what is found there
// counts. An entry that is older than the session is the user's: it is mounted read-only in the
// box. A younger one was written by the box, or by the user meanwhile, which looks the same. Git
// writes the files of a checkout before its index, so an entry is judged only when no index is
// being written: a tracked file is never moved.
#include "guard/watcher.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/git/links.h"
#include "guard/known_places.h"
#include "guard/move_out.h"
#include "guard/pending.h"
#include "guard/permissions.h"
#include "guard/replaced.h"
#include "guard/rows.h"
#include "guard/search.h"
#include "guard/tracking.h"
#include "guard/watches.h"
#include "guard/writers.h"
#include "plan/guard/facts.h"
#include "plan/guard/keys.h"
#include "plan/guard/npmrc.h"
#include "plan/guard/places.h"
#include "plan/guard/targets.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "plan/git/parse.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum { CONTENT_LIMIT = 256 * 1024 };

// Entries that can turn a directory into a git directory, or are judged with it.
static const char *const git_entries[] = {
	"HEAD",  "objects", "refs",    "commondir", "config", "config.worktree",
	"hooks", "info",    "remotes", "branches",
};

void watcher_tell(const struct watcher *watcher, enum guard_event_kind kind, const char *text,
		  const char *id)
{
	struct guard_event event = { .kind = kind };

	strncpy(event.text, text, sizeof(event.text) - 1);
	if (id)
		strncpy(event.id, id, sizeof(event.id) - 1);
	while (send(watcher->channel, &event, sizeof(event), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

bool watcher_is_new(const struct watcher *watcher, const char *path, const struct stat *status)
{
	const struct search *search = watcher->search;

	return watcher->all_is_new ||
	       (search && search->moved_in && path_within(path, search->directory)) ||
	       clock_is_later(&status->st_ctim, &watcher->start);
}

bool watcher_watch_file(struct watcher *watcher, int directory, const char *name, const char *path)
{
	CLEANUP_FD int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	bool added;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		watches_add(&watcher->watches, fd, path, WATCH_FILE, &added);
	return writers_keep(watcher, directory, name, path);
}

bool watcher_is_unprotected(const struct watcher *watcher, const char *path)
{
	const struct plan *plan = watcher->plan;

	return unprotect_covers(&plan->guard.unprotected, plan->project, path);
}

struct entry_judgement {
	struct arena *arena;
	bool refused;
};

static void judge_module(void *context, const char *name, const char *value)
{
	struct entry_judgement *judgement = context;

	judgement->refused |= gitmodules_refusal(judgement->arena, name, value) != NULL;
}

// Returns whether the content of a file executes nothing.
static bool is_harmless(struct arena *arena, int directory, const char *name,
			const struct guard_row *row)
{
	struct entry_judgement judgement = { .arena = arena };
	const char *text = file_read_at(arena, directory, name, CONTENT_LIMIT);
	size_t line;

	if (!text)
		return false;
	if (row->judge == JUDGE_NPMRC)
		return npmrc_is_harmless(arena, text);
	if (row->judge != JUDGE_GITMODULES)
		return false;
	// git refuses to work with a file that it cannot parse
	git_config_parse(arena, text, judge_module, &judgement, &line);
	return !judgement.refused;
}

// Returns whether a file is empty and can be watched: it may be a mount point of a sandbox inside
// the box, or is about to be written.
static bool is_empty(struct watcher *watcher, int directory, const char *name, const char *path)
{
	struct stat status;

	return watcher_watch_file(watcher, directory, name, path) &&
	       fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && !status.st_size;
}

// Returns whether a directory of the table around an entry was changed since the session started:
// the box may have renamed it, and the files in it keep their time.
static bool lies_in_new_directory(const struct watcher *watcher, struct arena *arena,
				  const char *directory)
{
	struct stat status;
	bool new_below = false;

	for (; path_within(directory, watcher->plan->project);
	     directory = path_parent(arena, directory)) {
		new_below |= lstat(directory, &status) == 0 &&
			     watcher_is_new(watcher, directory, &status);
		if (new_below && path_name(directory)[0] == '.')
			return true;
	}
	return false;
}

// Returns whether an entry existed before the session, or replaces one that did.
static bool is_the_users(const struct watcher *watcher, struct arena *arena,
			 const struct guard_place *known, const char *path,
			 const struct stat *status)
{
	bool old = !watcher_is_new(watcher, path, status);

	// A box cannot replace a protected place, but it can replace a link.
	if (known)
		return !S_ISLNK(status->st_mode) || old;
	// When all directories are known, a place that is not was created or renamed meanwhile.
	return old && !watcher->complete &&
	       !lies_in_new_directory(watcher, arena, path_parent(arena, path));
}

void examine_tracked(struct watcher *watcher)
{
	for (const struct tracked_place *place = watcher->tracked; place; place = place->next)
		examine_entry(watcher, place->directory, place->name);
}

// Returns whether an entry is a directory of the table without a file, which is watched alone.
static bool is_empty_place(int directory, const char *name, const struct guard_row *row)
{
	return guard_may_be_empty(row) && directory_has_no_file(directory, name);
}

// Judges an entry at a place of the table. `relative`: its path in the project.
static void examine_place(struct watcher *watcher, struct arena *arena, int fd,
			  const char *directory, const char *name, const struct guard_row *row)
{
	const char *path = path_join(arena, directory, name);
	const struct guard_place *known;
	struct stat status, parent;

	if (watcher_is_unprotected(watcher, path) || fstat(fd, &parent) < 0 ||
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	// A row for a place below: a link at this path leads to it.
	if (!S_ISLNK(status.st_mode) && rows_find_exact(watcher, path) != row)
		return;
	if (known_covers(watcher, arena, path))
		return;
	known = known_find_protected(watcher, path, file_identity(&parent),
				     S_ISLNK(status.st_mode));
	if (!known && known_is_renamed(watcher, path, file_identity(&parent), &status, row))
		return;
	if (is_the_users(watcher, arena, known, path, &status)) {
		if ((known && S_ISLNK(status.st_mode)) ||
		    tracking_of(watcher, arena, directory, path) == TRACKED)
			return;
		if (known)
			known_mount(watcher, known, path, &status, row);
		else if (!replaced_is_lost(watcher, path) && !is_empty_place(fd, name, row))
			known_add(watcher, file_identity(&parent), path, &status, row);
		if (!replaced_is_lost(watcher, path))
			return;
	}
	// An empty directory executes nothing. Its entries are examined one by one.
	if (S_ISDIR(status.st_mode) && row->directory)
		return;
	switch (tracking_of(watcher, arena, directory, path)) {
	case TRACKED:
		tracking_note(watcher, directory, name);
		if (watcher_is_new(watcher, path, &status))
			watcher_tell(watcher, GUARD_CHANGED, path, guard_host_names[row->host]);
		return;
	case UNDECIDED:
		pending_add(watcher, directory, name);
		return;
	case UNTRACKED:
		break;
	}
	if (S_ISREG(status.st_mode) && !watcher->strict && is_empty(watcher, fd, name, path))
		return;
	if (row->decision == GUARD_JUDGED) {
		watcher_watch_file(watcher, fd, name, path);
		if (is_harmless(arena, fd, name, row))
			return;
	}
	move_out(watcher, fd, path, name, row->why, false);
}

// Returns whether a directory may be one of a git directory whose files are judged.
static bool is_git_part(const char *directory)
{
	static const char *const parts[] = { "hooks", "info", "remotes", "branches" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (str_equal(parts[i], directory))
			return true;
	return false;
}

// Returns the git directory that a directory is, or is a part of; NULL: none.
static const char *enclosing_git(struct arena *arena, int fd, const char *directory)
{
	const char *parent = path_parent(arena, directory);
	CLEANUP_FD int above = -1;

	if (git_directory_may_be(fd, directory))
		return directory;
	if (!is_git_part(path_name(directory)))
		return NULL;
	if (str_equal(path_name(directory), "info") && str_equal(path_name(parent), "objects"))
		parent = path_parent(arena, parent);
	above = file_open(AT_FDCWD, parent, O_PATH | O_DIRECTORY);
	return above >= 0 && git_directory_may_be(above, parent) ? parent : NULL;
}

static bool is_git_entry(const char *directory, const char *name)
{
	if (is_git_part(path_name(directory)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(git_entries); i++)
		if (str_equal(git_entries[i], name))
			return true;
	return false;
}

// Protects a place of a git directory again if a program of the host has replaced it.
static void protect_in_git(struct watcher *watcher, int fd, const char *path, const char *name)
{
	const struct guard_place *known = known_find(watcher, path);
	struct stat status;

	if (known && (known->mount == GUARD_COPY || !replaced_is_lost(watcher, path)) &&
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(status.st_mode))
		known_mount(watcher, known, path, &status, known->row);
}

// Returns whether an entry can be of interest. Nearly all files of a large project are not, so this
// looks at names only: places and the directories around them begin with a dot, or their names are
// in the table or those of git, or settings of git name them.
static bool may_matter(const struct watcher *watcher, const char *directory, const char *name)
{
	const char *project = watcher->plan->project;

	return name[0] == '.' || guard_is_name(name) || is_git_entry(directory, name) ||
	       str_equal(name, "index") ||
	       guard_target_may_be(&watcher->plan->guard.targets, directory, name) ||
	       strstr(path_within(directory, project) ? directory + strlen(project) : directory,
		      "/.");
}

static bool marks_top(const char *name)
{
	return str_equal(name, ".git") || str_equal(name, "HEAD");
}

// Examines the places that count in a directory because it has become the top of a worktree.
static void examine_top(struct watcher *watcher, struct arena *arena, const char *directory)
{
	vec_each(target, &watcher->plan->guard.targets) {
		const char *path = target->name ? path_join(arena, directory, target->name) : NULL;

		if (!path)
			continue;
		if (target->directory)
			watches_queue(&watcher->watches, path, false);
		for (; !str_equal(path, directory); path = path_parent(arena, path))
			if (!marks_top(path_name(path)))
				examine_entry(watcher, path_parent(arena, path), path_name(path));
	}
}

// Returns whether the git directory around the entries of a search was judged, and notes that it is
// now. An entry that is created later causes an event.
static bool was_judged(const struct watcher *watcher)
{
	bool judged = watcher->search && watcher->search->git_judged;

	if (watcher->search)
		watcher->search->git_judged = true;
	return judged;
}

// Examines an entry that may be of interest. `fd`: its directory.
static void examine_in(struct watcher *watcher, struct arena *arena, int fd, const char *directory,
		       const char *name, const struct guard_row *row)
{
	const char *path = path_join(arena, directory, name);
	const char *git;

	protect_in_git(watcher, fd, path, name);
	if (str_equal(name, ".git")) {
		git_pointer_judge(watcher, directory, name);
	} else if (is_git_entry(directory, name) && !was_judged(watcher) &&
		   (git = enclosing_git(arena, fd, directory))) {
		git_directory_judge(watcher, git);
	}
	if (row && row->judge != JUDGE_REPOSITORY)
		examine_place(watcher, arena, fd, directory, name, row);
	if (marks_top(name) && rows_is_top(directory))
		examine_top(watcher, arena, directory);
}

// Returns the directory of an entry if it is open because it is searched, or -1.
static int searched_directory(const struct watcher *watcher, const char *directory)
{
	const struct search *search = watcher->search;

	return search && search->fd >= 0 && str_equal(search->directory, directory) ? search->fd
										    : -1;
}

void examine_entry(struct watcher *watcher, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const struct guard_row *row;
	int searched = searched_directory(watcher, directory);
	CLEANUP_FD int fd = -1;

	if (!may_matter(watcher, directory, name))
		return;
	if (str_equal(name, "index")) { // git has written its index
		pending_examine(watcher);
		search_check_index(watcher, directory);
	}
	row = rows_find(watcher, path_join(&arena, directory, name));
	if (!row && !is_git_entry(directory, name) && !str_equal(name, ".git"))
		goto end;
	if (searched < 0) {
		fd = file_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
		watcher->overflowed |= fd < 0 && errno == EACCES; // it is searched at the end
		searched = fd;
	}
	if (searched >= 0) {
		permissions_lend(watcher, searched, S_IXUSR);
		examine_in(watcher, &arena, searched, directory, name, row);
	}
end:
	arena_free(&arena);
}

// Moves a link to files of a box outside of the project: no guard watches them there.
static void move_link(struct watcher *watcher, const char *directory, const char *name,
		      const char *path)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);

	if (fd >= 0)
		move_out(watcher, fd, path, name, "it leads to files that a box writes", false);
}

void examine_link(struct watcher *watcher, const char *directory, const char *name)
{
	const char *project = watcher->plan->project;
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, name);
	struct stat status;

	if (lstat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		goto end;
	if (git_below(watcher, directory)) {
		git_link_judge(watcher, directory, name);
	} else if (S_ISLNK(status.st_mode)) {
		const char *real = file_follow(&arena, path).real;

		if (path_within(real, watcher->plan->state.root) &&
		    !path_within(watcher->plan->state.root, project) &&
		    watcher_is_new(watcher, path, &status))
			move_link(watcher, directory, name, path);
		if (path_within(real, project) && !str_equal(real, project) &&
		    guard_lies_in_dependencies(real + strlen(project) + 1))
			watches_queue(&watcher->watches, real,
				      watcher_is_new(watcher, path, &status));
	}
end:
	arena_free(&arena);
}
