// SPDX-License-Identifier: MIT
// Finds directories of other worktrees inside the git directory that is mounted for the project.
//
// Theory of operation: git needs its shared directory, and a user can place worktrees in it:
// repo.git/main and repo.git/feature in a bare repository, .git/wt/x in another. The box of one
// worktree must not have the files of the others, so they are covered. An earlier box could write
// the list of worktrees (worktrees/*/gitdir), so the list alone does not decide: each directory
// that git does not use is searched for a `.git`. If the project itself is in the git directory,
// every directory there that git does not use is covered. A path of the list counts only if it is
// in the git directory, and no other path of it is touched. A box cannot rename a covered
// directory. The directories between the git directory and the project are mount points too, so
// that a box cannot rename them either, and with them the covered directories inside.
#include "probe/git/worktrees.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_COVERED = 64,
	MAX_WORKTREES = 256, // entries of the list that are read
	MAX_ENTRIES = 512,   // in the search of one directory
	SEARCH_DEPTH = 3,
	POINTER_LIMIT = 4096,
};

// Directories of every git directory. They are never covered, whatever a box planted in them.
static const char *const git_names[] = {
	"branches", "hooks", "info", "logs", "modules", "objects", "refs", "reftable", "worktrees",
};
// Directories of some operations and extensions. They are covered only if they are a worktree.
static const char *const extension_names[] = {
	"annex",
	"branchless",
	"filter-repo",
	"git-crypt",
	"jj",
	"lfs",
	"patches",
	"rr-cache",
	"rebase-apply",
	"rebase-merge",
	"sequencer",
	"sl",
	"NOTES_MERGE_WORKTREE",
	"subrepo",
	"svn",
};

struct search {
	struct facts *facts;
	struct arena *arena;
	bool around; // the git directory contains the project
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(names[i], name))
			return true;
	return false;
}

static bool is_git_name(const char *name)
{
	return is_one_of(name, git_names, ARRAY_SIZE(git_names));
}

static bool is_dot(const char *name)
{
	return str_equal(name, ".") || str_equal(name, "..");
}

// Returns whether a directory, or one of the directories below it, contains a `.git`.
static bool contains_worktree(int parent, const char *name, int depth, int *entries)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(parent, name);
	const struct dirent *entry;
	struct stat status;

	if (!directory)
		return false;
	if (fstatat(dirfd(directory), ".git", &status, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	while (depth > 1 && (entry = readdir(directory)) && (*entries)++ < MAX_ENTRIES)
		if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
		    !is_dot(entry->d_name) &&
		    contains_worktree(dirfd(directory), entry->d_name, depth - 1, entries))
			return true;
	return false;
}

// Adds a directory to a list, once. Files and links are left out: a link leads out of the mount.
static void add_directory(directories *list, struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = file_open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	struct stat status;

	vec_each(known, list) {
		if (path_within(path, known->path))
			return;
	}
	if (fd >= 0 && fstat(fd, &status) == 0)
		vec_push(arena, list,
			 (struct directory_facts){ .path = path, .id = file_identity(&status) });
}

// Covers a directory, unless the box needs it.
static void cover(struct search *search, const char *path)
{
	struct git_facts *git = &search->facts->git;

	if (!path_within(git->top, path) && !path_within(git->directory, path) &&
	    !path_within(search->facts->project, path))
		add_directory(&git->covered, search->arena, path);
}

// Covers the directories of `place` that hold other worktrees. `place` is the git directory, or
// lies between it and the project.
static void cover_entries(struct search *search, const char *place)
{
	const struct git_facts *git = &search->facts->git;
	bool is_common = str_equal(place, git->common);
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, place);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		bool extension = is_common && is_one_of(entry->d_name, extension_names,
							ARRAY_SIZE(extension_names));
		int depth = extension ? 1 : SEARCH_DEPTH;
		int entries = 0;

		if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
		    is_dot(entry->d_name) || (is_common && is_git_name(entry->d_name)))
			continue;
		if ((search->around && !extension) ||
		    contains_worktree(dirfd(directory), entry->d_name, depth, &entries))
			cover(search, path_join(search->arena, place, entry->d_name));
	}
}

// Covers a worktree of git's list if it is in the git directory.
static void cover_listed(struct search *search, const char *administration)
{
	struct arena *arena = search->arena;
	const char *common = search->facts->git.common;
	const char *line =
		file_read(arena, path_join(arena, administration, "gitdir"), POINTER_LIMIT, 0);
	const char *worktree;
	const char *place;

	if (!line)
		return;
	line = arena_strndup(arena, line, strcspn(line, "\r\n"));
	worktree = path_parent(arena, path_clean(arena, path_join(arena, administration, line)));
	if (!path_within(worktree, common) || str_equal(worktree, common))
		return;
	// The whole directory below the git directory is covered, so that a box cannot rename it.
	for (place = worktree; !str_equal(path_parent(arena, place), common);)
		place = path_parent(arena, place);
	if (!is_git_name(path_name(place)) && !path_within(search->facts->git.top, place))
		cover(search, place);
	else if (!str_equal(place, worktree))
		cover(search, worktree);
}

static void cover_list(struct search *search)
{
	const char *list = path_join(search->arena, search->facts->git.common, "worktrees");
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, list);
	const struct dirent *entry;
	int count = 0;

	while (directory && (entry = readdir(directory)) && count++ < MAX_WORKTREES)
		if (!is_dot(entry->d_name))
			cover_listed(search, path_join(search->arena, list, entry->d_name));
}

void probe_other_worktrees(struct facts *facts, struct arena *arena)
{
	struct git_facts *git = &facts->git;
	struct search search = { .facts = facts, .arena = arena };

	// A git directory in the project is a part of the project.
	if (!git->top || path_within(git->common, facts->project))
		return;
	search.around = path_within(git->top, git->common);
	cover_entries(&search, git->common);
	for (const char *place = path_parent(arena, git->top);
	     search.around && !str_equal(place, git->common); place = path_parent(arena, place)) {
		cover_entries(&search, place);
		add_directory(&git->pinned, arena, place);
	}
	cover_list(&search);
	if (git->covered.count <= MAX_COVERED)
		return;
	git->top = NULL;
	git->refused = "the git directory contains more than 64 other worktrees, which cannot all "
		       "be hidden: git is not available";
}
