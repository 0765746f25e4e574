// SPDX-License-Identifier: MIT
// Tells the user which places that git tracks have changed in a session.
//
// Theory of operation: git must be able to replace tracked files, so a box can change them. If the
// index has the content that a file has now, a checkout, a commit or `git add` has put it there,
// and `git log -p` or `git diff --cached` shows it. Otherwise `git diff` shows it. A box can write
// the index, but then it only chooses which of these commands shows its change.
#include "box/tracked_changes.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/plan.h"
#include "probe/git/tracked.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/output.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	POINTER_LIMIT = 4096,
	CONTENT_LIMIT = 8 * 1024 * 1024,
	SHOWN_NAMES = 8,
};

// A repository or worktree with changed places.
struct repository {
	const char *top;
	bool added;   // in this session
	strings same; // changed places that its index has as they are, relative to it
	struct tracked tracked;
};

struct changes {
	const struct plan *plan;
	struct arena *arena;
	const struct timespec *start;
	VEC(struct repository) repositories;
	size_t told; // places with a line of their own, of one effect
};

// Returns whether a `.git` was created after the start. Without a time of birth only a file counts:
// git writes to a directory in each session.
static bool is_added(const char *dot_git, const struct timespec *start)
{
	unsigned int mask = STATX_TYPE | STATX_BTIME | STATX_CTIME;
	struct statx status;
	struct timespec time;

	if (statx(AT_FDCWD, dot_git, AT_SYMLINK_NOFOLLOW, mask, &status) < 0)
		return false;
	if (!(status.stx_mask & STATX_BTIME) && !S_ISREG(status.stx_mode))
		return false;
	time = status.stx_mask & STATX_BTIME
		       ? (struct timespec){ status.stx_btime.tv_sec, status.stx_btime.tv_nsec }
		       : (struct timespec){ status.stx_ctime.tv_sec, status.stx_ctime.tv_nsec };
	return clock_is_later(&time, start);
}

// Returns whether a git directory is in the project, or one of its repository's worktrees.
static bool belongs_here(const struct changes *changes, const char *directory)
{
	const char *own = changes->plan->guard.git_directory;
	const char *siblings = own ? path_parent(changes->arena, own) : NULL;

	if (path_within(directory, changes->plan->project) || (own && path_within(directory, own)))
		return true;
	return siblings && str_equal(path_name(siblings), "worktrees") &&
	       path_within(directory, siblings);
}

// Returns the git directory that the `.git` of a worktree is or names; NULL: there is none, "":
// it names none that belongs to the project.
static const char *git_directory_at(const struct changes *changes, const char *top)
{
	struct arena *arena = changes->arena;
	const char *dot_git = path_join(arena, top, ".git");
	struct stat status;
	const char *text;
	const char *target;

	if (lstat(dot_git, &status) < 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return dot_git;
	text = file_read(arena, dot_git, POINTER_LIMIT, 0);
	target = text ? str_after(text, "gitdir: ") : NULL;
	if (!target)
		return "";
	target = arena_strndup(arena, target, strcspn(target, "\r\n"));
	target = path_clean(arena, path_join(arena, top, target));
	return belongs_here(changes, target) ? target : "";
}

// Returns the repository that contains a place.
static struct repository *find_repository(struct changes *changes, const char *path)
{
	const struct plan_guard *guard = &changes->plan->guard;
	struct arena *arena = changes->arena;
	const char *top = path_parent(arena, path);
	const char *directory = NULL;
	struct repository repository = { 0 };

	for (; path_within(top, changes->plan->project); top = path_parent(arena, top)) {
		if (guard->worktree && str_equal(top, guard->worktree))
			break;
		directory = git_directory_at(changes, top);
		if (directory)
			break;
	}
	if (!directory) {
		top = guard->worktree;
		directory = guard->git_directory;
	}
	vec_each(known, &changes->repositories) {
		if (str_equal(known->top, top))
			return known;
	}
	repository.top = top;
	if (directory && *directory)
		repository.tracked = tracked_open(directory);
	repository.added = top && !str_equal(top, changes->plan->project) &&
			   path_within(top, changes->plan->project) &&
			   is_added(path_join(arena, top, ".git"), changes->start);
	vec_push(arena, &changes->repositories, repository);
	return &changes->repositories.items[changes->repositories.count - 1];
}

// Compares a place with the index of its repository. `below`: its path in the worktree.
static enum tracked_content compare(const struct changes *changes,
				    const struct repository *repository, const char *path,
				    const char *below)
{
	CLEANUP_FD int fd = -1;
	char link[PATH_MAX];
	struct stat status;
	size_t length = 0;
	const char *bytes;

	if (lstat(path, &status) < 0)
		return tracked_compare(&repository->tracked, below, NULL, false);
	if (S_ISLNK(status.st_mode)) {
		ssize_t got = readlink(path, link, sizeof(link));

		bytes = got < 0 ? NULL : link;
		length = got < 0 ? 0 : (size_t)got;
	} else {
		fd = file_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
		bytes = file_read_bytes(changes->arena, fd, CONTENT_LIMIT, &length);
	}
	if (!bytes)
		return TRACKED_UNKNOWN;
	return tracked_compare(&repository->tracked, below,
			       digest_blob(changes->arena, bytes, length), S_ISLNK(status.st_mode));
}

// Returns a command of git about a place, for the directory of the project.
static const char *command_for(const struct changes *changes, const struct repository *repository,
			       const char *command, const char *below)
{
	struct arena *arena = changes->arena;
	const char *nested = str_after(repository->top, changes->plan->project);
	const char *outer = str_after(changes->plan->project, repository->top);
	bool newline = false;

	// Below the top of the worktree, paths are relative to the project.
	if (outer && *outer == '/' && path_within(below, outer + 1))
		below += strlen(outer);
	nested = nested && *nested == '/'
			 ? arena_printf(arena, "-C %s ", quote_shell(arena, nested + 1, &newline))
			 : "";
	below = quote_shell(arena, below, &newline);
	return newline ? arena_printf(arena, "git %s -- PATH", command)
		       : arena_printf(arena, "git %s%s -- %s", nested, command, below);
}

static void tell_strong(struct changes *changes, const char *path, const char *effect,
			const char *command)
{
	struct arena *arena = changes->arena;

	if (++changes->told > SHOWN_NAMES)
		return;

	path = quote_display(arena, path_tilde(arena, path, changes->plan->home), 0);
	output_message("guard", "changed: %s (%s%s%s)", path, effect, command ? ": " : "",
		       command ? command : "");
}

// Judges one changed place: prints its line, or notes that its index has it.
static void judge(struct changes *changes, const char *path, const char *effect)
{
	struct repository *repository = find_repository(changes, path);
	const char *below = repository->top ? str_after(path, repository->top) : NULL;

	if (!below || *below != '/') {
		tell_strong(changes, path, effect, NULL);
		return;
	}
	switch (compare(changes, repository, path, ++below)) {
	case TRACKED_SAME:
		vec_push(changes->arena, &repository->same, below);
		break;
	case TRACKED_DIFFERS:
		tell_strong(changes, path, effect, command_for(changes, repository, "diff", below));
		break;
	case TRACKED_UNKNOWN:
		tell_strong(changes, path, effect, NULL);
		break;
	}
}

// Adds names to a line, as far as they are shown.
static void add_names(struct text *line, const strings *names)
{
	for (size_t i = 0; i < names->count && i < SHOWN_NAMES; i++)
		text_printf(line, "%s%s", i ? ", " : "",
			    quote_word(line->arena, names->items[i], 0));
	if (names->count > SHOWN_NAMES)
		text_printf(line, " and %zu more", names->count - SHOWN_NAMES);
}

// Prints the lines about places that the index of their repository has as they are.
static void tell_same(struct changes *changes)
{
	struct arena *arena = changes->arena;
	const char *command = "git log -p -1 -- PATH";
	struct text line = { .arena = arena };
	strings names = { 0 };

	vec_each(repository, &changes->repositories) {
		const char *top = repository->top;

		if (!repository->same.count)
			continue;
		if (repository->added) {
			line = (struct text){ .arena = arena };
			add_names(&line, &repository->same);
			top = quote_display(arena, path_tilde(arena, top, changes->plan->home), 0);
			output_message("guard",
				       "new worktree or repository '%s' with %s (your programs use "
				       "them there)",
				       top, text_get(&line));
			continue;
		}
		vec_each(below, &repository->same) {
			vec_push(arena, &names,
				 path_tilde(arena, path_join(arena, top, *below),
					    changes->plan->home));
			command = command_for(changes, repository, "log -p -1", *below);
		}
	}
	if (!names.count)
		return;
	line = (struct text){ .arena = arena };
	add_names(&line, &names);
	output_message("guard",
		       "git has put other versions there, by a checkout, a commit or 'git add': %s "
		       "(%s, git diff --cached)",
		       text_get(&line), names.count > 1 ? "git log -p -1 -- PATH" : command);
}

// Judges all places of one effect. Those that got no line are counted.
static void judge_all(struct changes *changes, const strings *paths, const char *effect)
{
	changes->told = 0;
	vec_each(path, paths)
		judge(changes, *path, effect);
	if (changes->told > SHOWN_NAMES)
		output_message("guard", "changed: %zu more (%s)", changes->told - SHOWN_NAMES,
			       effect);
}

void tracked_changes_tell(const struct plan *plan, struct arena *arena,
			  const struct timespec *start, const strings *executed,
			  const strings *trusted)
{
	struct changes changes = { .plan = plan, .arena = arena, .start = start };

	judge_all(&changes, executed, "your programs execute it without asking");
	judge_all(&changes, trusted, "your programs use it");
	tell_same(&changes);
	vec_each(repository, &changes.repositories)
		tracked_close(&repository->tracked);
}
