// SPDX-License-Identifier: MIT
// Brings the index of the snapshots up to date with the files of the project.
//
// Theory of operation: `git ls-files` lists what git does not ignore, and what an earlier snapshot
// has. It does not enter a repository in the project that it does not know, so that is listed by a
// run of its own; its files become files of the same index, and from then on git enters it. What
// the project's own index tracks although git ignores it is added. That index is read, but not
// trusted: a flag in it could hide a change. `git update-index` then reads the files that have
// changed. Both execute nothing of the project.
#include "snapshot/take/take.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "probe/git/tracked.h"
#include "snapshot/store.h"
#include "snapshot/take/closed.h"
#include "snapshot/take/modes.h"
#include "snapshot/take/path_set.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_REPOSITORIES = 300,
	SHOWN_LEFT_OUT = 8,
	MOST_RETRIES = 4,
};

// A larger file is left out: saving it takes longer than a user waits.
static const off_t file_limit = (off_t)256 * 1024 * 1024;

struct listing {
	const struct store *store;
	struct take *take;
	struct arena *arena;
	struct text input; // paths, each with a NUL
	struct path_set known;
	strings repositories; // directories relative to the project, with a slash, to be listed
	size_t next;
	int64_t until_ms;
	bool closed; // git could not open a directory
};

static void leave_out(struct listing *listing, const char *path)
{
	struct take *take = listing->take;

	if (take->left_out_count++ < SHOWN_LEFT_OUT)
		vec_push(listing->arena, &take->left_out, arena_strdup(listing->arena, path));
}

// Returns whether a file that no earlier snapshot has can be saved: git ends with an error at the
// first that cannot.
static bool is_readable(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0 || S_ISLNK(status.st_mode))
		return true; // git notices one that is gone
	return S_ISREG(status.st_mode) && status.st_size <= file_limit &&
	       faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

static void add_path(struct listing *listing, const char *path, bool is_new)
{
	const char *full = path_join(listing->arena, listing->store->project, path);

	if (is_new && listing->take->closed_since_ms)
		closed_open_file(full, listing->take->closed_since_ms);
	if (is_new && !is_readable(full)) {
		leave_out(listing, path);
		return;
	}
	text_add_bytes(&listing->input, path, strlen(path) + 1);
	path_set_add(&listing->known, listing->arena, path);
}

// Handles the output of ls-files -t: "H path" of an earlier snapshot, "? path" otherwise.
static void add_output(struct listing *listing, const struct git_run *run, const char *directory)
{
	const char *end = run->output + run->output_length;

	for (const char *entry = run->output; entry < end; entry += strlen(entry) + 1) {
		const char *path = arena_printf(listing->arena, "%s%s", directory, entry + 2);

		if (strlen(entry) < 3)
			continue;
		if (str_ends(path, "/"))
			vec_push(listing->arena, &listing->repositories, path);
		else
			add_path(listing, path, entry[0] == '?');
	}
}

static bool list_files(struct listing *listing, const char *directory, struct error *error)
{
	const char *project = listing->store->project;
	const char *arguments[] = { "ls-files", "-z", "-t", "--cached", "--others", NULL, NULL };
	struct git_run run = { .arguments = arguments, .input_until_ms = listing->until_ms };

	if (!listing->take->ignored)
		arguments[5] = "--exclude-standard";
	if (*directory) {
		run.worktree = path_join(listing->arena, project, directory);
		run.index = "/nonexistent/index";
	}
	if (!git_run(listing->store, listing->arena, &run))
		return git_fail(&run, "list the files of the project", error);
	listing->closed |= run.message && strstr(run.message, "could not open directory");
	add_output(listing, &run, directory);
	return true;
}

// Lists the repositories in the project that no earlier snapshot has.
static void list_repositories(struct listing *listing, int64_t until_ms)
{
	for (; listing->next < listing->repositories.count; listing->next++) {
		const char *directory = listing->repositories.items[listing->next];
		struct error ignored = { .arena = listing->arena };

		if (listing->next >= MOST_REPOSITORIES || clock_monotonic_ms() >= until_ms ||
		    !list_files(listing, directory, &ignored))
			leave_out(listing, directory);
	}
}

// Adds a path of the project's own index.
static bool add_tracked(void *context, const struct git_index_entry *entry)
{
	struct listing *listing = context;
	const char *below = str_after(entry->path, listing->take->prefix);

	if (below && *below && entry->path[entry->length - 1] != '/' &&
	    (entry->mode & GIT_MODE_TYPE) != GIT_MODE_LINK && !path_set_has(&listing->known, below))
		add_path(listing, arena_strdup(listing->arena, below), true);
	return true;
}

// Removes files from the index: something else is in their place now.
static bool forget(struct listing *listing, const struct text *paths)
{
	static const char *const arguments[] = { "update-index", "-z", "--force-remove", "--stdin",
						 NULL };
	struct git_run run = { .arguments = arguments,
			       .input = text_get(paths),
			       .input_length = paths->length };

	return !paths->length || git_run(listing->store, listing->arena, &run);
}

// Returns whether a directory above a path of the project is a link now.
static bool is_behind_link(struct listing *listing, const char *path)
{
	const char *parent = path_parent(listing->arena, path);
	CLEANUP_FD int fd = -1;

	if (str_equal(parent, "/"))
		return false;
	fd = file_open(AT_FDCWD, path_join(listing->arena, listing->store->project, parent),
		       O_PATH | O_DIRECTORY);
	return fd < 0 && (errno == ELOOP || errno == ENOTDIR);
}

// Removes the paths from the input that git cannot save. Returns whether there were any.
static bool repair(struct listing *listing)
{
	struct arena *arena = listing->arena;
	struct text rest = { .arena = arena }, gone = { .arena = arena };
	const char *end = text_get(&listing->input) + listing->input.length;
	size_t length = listing->input.length;
	struct stat status;

	for (const char *path = text_get(&listing->input); path < end; path += strlen(path) + 1) {
		const char *full = path_join(arena, listing->store->project, path);
		bool exists = lstat(full, &status) == 0;

		if (!exists && errno == EACCES) { // it counts as unchanged
			leave_out(listing, path);
			continue;
		}
		if ((exists && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) ||
		    is_behind_link(listing, path))
			text_add_bytes(&gone, path, strlen(path) + 1);
		else if (exists && !is_readable(full))
			leave_out(listing, path);
		else
			text_add_bytes(&rest, path, strlen(path) + 1);
	}
	listing->input = rest;
	return rest.length < length && forget(listing, &gone);
}

static bool update_index(struct listing *listing, int64_t until_ms, struct error *error)
{
	static const char *const arguments[] = { "update-index", "-z",      "--add", "--remove",
						 "--replace",    "--stdin", NULL };

	for (int i = 0;; i++) {
		struct git_run run = { .arguments = arguments,
				       .input = text_get(&listing->input),
				       .input_length = listing->input.length,
				       .input_until_ms = until_ms };

		if (git_run(listing->store, listing->arena, &run)) {
			listing->take->complete = !run.cut;
			return true;
		}
		if (i == MOST_RETRIES || !repair(listing))
			return git_fail(&run, "save the files of the project", error);
	}
}

static bool ensure_index(const struct store *store, struct error *error)
{
	static const char *const arguments[] = { "read-tree", "--empty", NULL };
	struct git_run run = { .arguments = arguments };

	return faccessat(store->directory, "index", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       git_run(store, error->arena, &run) ||
	       git_fail(&run, "save the files of the project", error);
}

bool snapshot_take(const struct store *store, struct take *take, struct error *error)
{
	struct listing listing = { .store = store,
				   .take = take,
				   .arena = error->arena,
				   .input.arena = error->arena,
				   .until_ms = clock_monotonic_ms() + take->budget_ms };
	int64_t until_ms = listing.until_ms;
	struct tracked tracked = { 0 };

	if (!list_files(&listing, "", error))
		return false;
	if (take->closed_since_ms && (closed_open_paths(listing.arena, store->project,
							&listing.input, take->closed_since_ms) ||
				      listing.closed)) {
		if (listing.closed)
			closed_open_tree(store->project, take->closed_since_ms);
		listing.input.length = 0;
		listing.known = (struct path_set){ 0 };
		if (!list_files(&listing, "", error))
			return false;
	}
	list_repositories(&listing, until_ms);
	if (take->git_directory) {
		tracked = tracked_open(take->git_directory);
		tracked_each(&tracked, add_tracked, &listing);
		tracked_close(&tracked);
	}
	if (!update_index(&listing, until_ms, error) || !ensure_index(store, error))
		return false;
	modes_collect(store, listing.arena, &listing.input, &take->modes);
	return true;
}

const char *snapshot_write_tree(const struct store *store, const char *index, struct error *error)
{
	static const char *const arguments[] = { "write-tree", "--missing-ok", NULL };
	struct git_run run = { .arguments = arguments, .index = index };

	if (!git_run(store, error->arena, &run)) {
		git_fail(&run, "write the tree of the project", error);
		return NULL;
	}
	return arena_strndup(error->arena, run.output, strcspn(run.output, "\n"));
}
