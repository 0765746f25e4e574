// SPDX-License-Identifier: MIT
// Finds the protected places of the project that exist.
//
// Theory of operation: only the top directory of the project and the git directories are examined
// here, because their places are protected before the agent starts. Places further down are found
// by the guard while the box starts (src/guard/tree.c). Each directory between the project and a
// place becomes a mount point (a pin), because a mount does not keep a box from renaming the
// directory around it.
#include "probe/guard.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/project.h"
#include "probe/generated_hooks.h"
#include "probe/git/tracked.h"
#include "probe/guard_targets.h"
#include "probe/guard_tracked.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_GIT_DIRECTORIES = 1000,
	MODULE_DEPTH = 8,
	MAX_CANDIDATES = 256,
	LIST_DEPTH = 4,
};

// A row of the table, in a struct: clang-tidy takes an array of pointers for a mistake.
struct candidate_row {
	const struct guard_row *row;
};

struct search {
	struct facts *facts;
	struct arena *arena;
	const char *prefix; // of the project in its worktree: "sub/dir/", or ""
	struct last_start last;
	strings candidates;             // paths relative to the worktree
	VEC(struct candidate_row) rows; // of the candidates
};

static bool look(const char *path, struct stat *ret_status)
{
	return lstat(path, ret_status) == 0;
}

// Returns whether a path is a place already. A directory that was only pinned, because it contains
// a place, gets the mount of its own.
static bool is_known(struct guard_facts *guard, const char *path, enum guard_mount mount,
		     const struct guard_row *row)
{
	vec_each(place, &guard->places) {
		if (!str_equal(place->path, path))
			continue;
		if (place->mount == GUARD_PIN) {
			place->mount = mount;
			place->row = row;
		}
		return true;
	}
	return false;
}

static void add_place(struct search *search, const char *path, enum guard_mount mount,
		      const struct guard_row *row)
{
	struct guard_facts *guard = &search->facts->guard;
	struct stat status;

	// A mount on a symbolic link is not possible; the guard watches its directory.
	if (!look(path, &status) || S_ISLNK(status.st_mode) || is_known(guard, path, mount, row))
		return;
	vec_push(search->arena, &guard->places,
		 (struct guard_place){ .path = path,
				       .id = file_identity(&status),
				       .mount = mount,
				       .row = row,
				       .other_names = S_ISREG(status.st_mode) &&
						      status.st_nlink > 1 });
}

// Pins the directories between `top` and the place.
static void pin_parents(struct search *search, const char *path, const char *top)
{
	const char *parent = path_parent(search->arena, path);

	if (!path_within(parent, top) || str_equal(parent, top))
		return;
	pin_parents(search, parent, top);
	add_place(search, parent, GUARD_PIN, NULL);
}

static bool has_entry(struct arena *arena, const char *directory, const char *name)
{
	struct stat status;

	return look(path_join(arena, directory, name), &status);
}

// Adds the places of one git directory. `top`: nothing above it can be renamed.
static void add_git_directory(struct search *search, const char *directory, const char *top)
{
	struct guard_facts *guard = &search->facts->guard;

	if (guard->git_directories.count >= MAX_GIT_DIRECTORIES) {
		guard->too_many = true;
		return;
	}
	vec_push(search->arena, &guard->git_directories, directory);
	if (!str_equal(directory, top)) {
		pin_parents(search, directory, top);
		add_place(search, directory, GUARD_PIN, NULL);
	}
	for (size_t i = 0; i < guard_count; i++) {
		const struct guard_row *row = &guard_table[i];
		const char *path = path_join(search->arena, directory, row->name);
		struct stat status;

		if (row->scope != GUARD_GIT || !look(path, &status))
			continue;
		if (S_ISLNK(status.st_mode))
			probe_guard_link(search->facts, search->arena, path, row);
		if (S_ISDIR(status.st_mode) != row->directory)
			continue;
		pin_parents(search, path, top);
		add_place(search, path,
			  str_equal(row->name, "config") ? GUARD_COPY : GUARD_READ_ONLY, row);
	}
}

// Adds the git directories below `path`, of submodules or of linked worktrees.
static void add_listed(struct search *search, const char *path, const char *top, int depth)
{
	CLEANUP_DIR DIR *directory = depth ? open_directory_stream(AT_FDCWD, path) : NULL;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) && !search->facts->guard.too_many) {
		const char *below = path_join(search->arena, path, entry->d_name);

		if (entry->d_name[0] == '.' &&
		    (!entry->d_name[1] || str_equal(entry->d_name, "..")))
			continue;
		if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
			continue;
		if (has_entry(search->arena, below, "HEAD")) {
			add_git_directory(search, below, top);
			probe_guard_module(search->facts, search->arena, below);
			add_listed(search, path_join(search->arena, below, "modules"), top,
				   MODULE_DEPTH);
		} else {
			add_listed(search, below, top, depth - 1);
		}
	}
}

// Returns the directory that no box can rename and that contains the git directory.
static const char *fixed_above(const struct search *search, const char *directory)
{
	const char *project = search->facts->project;

	return path_within(directory, project) ? project : directory;
}

// Returns whether a path lies in a git directory of the project: git does not track it.
static bool lies_in_git(const struct search *search, const char *path)
{
	const struct git_facts *git = plan_git(search->facts);

	return git && (path_within(path, git->common) || path_within(path, git->directory));
}

static void add_repository(struct search *search)
{
	const struct git_facts *git = plan_git(search->facts);
	struct arena *arena = search->arena;
	const char *top;

	if (!git)
		return;
	top = fixed_above(search, git->common);
	add_git_directory(search, git->common, top);
	add_listed(search, path_join(arena, git->common, "modules"), top, MODULE_DEPTH);
	add_listed(search, path_join(arena, git->common, "worktrees"), top, 1);
	if (!path_within(git->directory, git->common))
		add_git_directory(search, git->directory, fixed_above(search, git->directory));
	// The pointer of a worktree or submodule.
	if (str_equal(git->top, search->facts->project) &&
	    !str_equal(git->common, path_join(arena, git->top, ".git")))
		add_place(search, path_join(arena, git->top, ".git"), GUARD_READ_ONLY,
			  guard_find(".git"));
}

static void add_candidate(struct search *search, const char *path, const struct guard_row *row)
{
	if (search->candidates.count >= MAX_CANDIDATES)
		return;
	vec_push(search->arena, &search->candidates,
		 arena_printf(search->arena, "%s%s", search->prefix, path));
	vec_push(search->arena, &search->rows, (struct candidate_row){ row });
}

// Returns whether a path lies in a repository or worktree in the project. Its own index says what
// git tracks there, and the guard asks it when it finds the file.
static bool lies_in_nested(const struct search *search, const char *path)
{
	const char *project = search->facts->project;

	for (path = path_parent(search->arena, path);
	     path_within(path, project) && !str_equal(path, project);
	     path = path_parent(search->arena, path))
		if (has_entry(search->arena, path, ".git"))
			return true;
	return false;
}

// Adds the files that settings of git name, and that exist.
static void find_targets(struct search *search)
{
	const char *project = search->facts->project;

	probe_guard_targets(search->facts, search->arena);
	vec_each(target, &search->facts->guard.targets) {
		struct stat status;

		if (!target->path || !look(target->path, &status) ||
		    lies_in_nested(search, target->path))
			continue;
		if (path_within(target->path, project) && !lies_in_git(search, target->path)) {
			add_candidate(search, target->path + strlen(project) + 1, target->row);
		} else {
			pin_parents(search, target->path, fixed_above(search, target->path));
			add_place(search, target->path, GUARD_READ_ONLY, target->row);
		}
	}
}

// Adds the file in the project that a place leads to as a link.
static void add_target(struct search *search, const struct guard_row *row)
{
	const char *project = search->facts->project;
	const char *path = path_join(search->arena, project, row->name);
	struct followed place = file_follow(search->arena, path);

	if (!str_equal(place.real, path) && path_within(place.real, project) &&
	    !str_equal(place.real, project) && place.kind != FILE_MISSING)
		add_candidate(search, place.real + strlen(project) + 1, row);
}

static void find_candidates(struct search *search)
{
	for (size_t i = 0; i < guard_count; i++) {
		const struct guard_row *row = &guard_table[i];

		if (row->scope != GUARD_GIT && row->judge != JUDGE_REPOSITORY &&
		    has_entry(search->arena, search->facts->project, row->name)) {
			add_candidate(search, row->name, row);
			add_target(search, row);
		}
	}
}

// Returns how a place is mounted. A directory of generated hooks is a copy.
static enum guard_mount mount_of(const struct search *search, const char *path,
				 const struct guard_row *row)
{
	return row->judge == JUDGE_HOOKS && probe_is_generated(search->arena, path)
		       ? GUARD_COPY
		       : GUARD_READ_ONLY;
}

// Adds the files of a directory that git tracks in part, to be examined one by one.
static void add_entries(struct search *search, const char *relative, const struct guard_row *row,
			int depth)
{
	struct arena *arena = search->arena;
	const char *path = path_join(arena, search->facts->project, relative);
	CLEANUP_DIR DIR *directory = depth ? open_directory_stream(AT_FDCWD, path) : NULL;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const char *below = path_join(arena, relative, entry->d_name);

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (entry->d_type == DT_DIR &&
		    mount_of(search, path_join(arena, path, entry->d_name), row) != GUARD_COPY)
			add_entries(search, below, row, depth - 1);
		else
			add_candidate(search, below, row);
	}
}

// Returns whether a path is a directory of the table without a file, which the guard watches. The
// target of a link has another name, which is not watched.
static bool is_empty_place(const char *relative, const char *path)
{
	const struct guard_row *row = guard_find(relative);

	return row && guard_may_be_empty(row) && directory_has_no_file(AT_FDCWD, path);
}

// Protects the candidates that git does not track. Returns those that it tracks.
static void split_candidates(struct search *search, const struct tracked *tracked, size_t from)
{
	struct arena *arena = search->arena;
	size_t count = search->candidates.count - from;
	bool *found = arena_alloc(arena, count + 1);
	bool unreadable;

	unreadable = !tracked_find(tracked, search->candidates.items + from, count, found);
	for (size_t i = 0; i < count; i++) {
		const char *relative = search->candidates.items[from + i] + strlen(search->prefix);
		const char *path = path_join(arena, search->facts->project, relative);

		// Without a readable index all count as tracked, but a box could have damaged it.
		if (unreadable && search->last.known)
			found[i] = probe_was_tracked(&search->last, relative);
		if (found[i]) {
			probe_add_tracked(search->facts, arena, relative);
			continue;
		}
		if (is_empty_place(relative, path))
			continue;
		pin_parents(search, path, search->facts->project);
		add_place(search, path, mount_of(search, path, search->rows.items[from + i].row),
			  search->rows.items[from + i].row);
	}
}

static void add_project(struct search *search)
{
	const struct git_facts *git = plan_git(search->facts);
	struct tracked tracked = { 0 };
	size_t first;

	find_candidates(search);
	find_targets(search);
	if (git)
		tracked = tracked_open(git->directory);
	first = search->candidates.count;
	split_candidates(search, &tracked, 0);
	for (size_t i = 0; i < search->facts->guard.tracked.count; i++)
		for (size_t row = 0; row < first; row++)
			if (search->rows.items[row].row->directory &&
			    str_equal(search->candidates.items[row] + strlen(search->prefix),
				      search->facts->guard.tracked.items[i]))
				add_entries(search, search->facts->guard.tracked.items[i],
					    search->rows.items[row].row, LIST_DEPTH);
	if (search->candidates.count > first)
		split_candidates(search, &tracked, first);
	probe_add_tracked_places(search->facts, search->arena, search->prefix, &tracked,
				 &search->last);
	probe_add_released(search->facts, search->arena, &search->last);
	tracked_close(&tracked);
}

void probe_guard(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);
	struct search search = { .facts = facts, .arena = arena, .prefix = "" };

	if (git && !str_equal(git->top, facts->project) && path_within(facts->project, git->top))
		search.prefix = arena_printf(arena, "%s/", facts->project + strlen(git->top) + 1);
	search.last = probe_last_start(facts, arena);
	add_repository(&search);
	add_project(&search);
}
