// SPDX-License-Identifier: MIT
// Brings the index of the snapshots up to date with the files of the project.
//
// Theory of operation: `git ls-files --others` lists what git does not ignore and no earlier
// snapshot has. Meanwhile scan_index() finds the files of earlier snapshots that may have changed.
// git does not enter a repository in the project that it does not know, so that is listed by a run
// of its own; its files become files of the same index, and from then on git enters it. What the
// project's own index tracks although git ignores it is added. That index is read, but not trusted:
// a flag in it could hide a change. `git update-index` then reads the files that are new or have
// changed; without any it is not run. Both execute nothing of the project.
#include "snapshot/take/take.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "probe/git/tracked.h"
#include "snapshot/store.h"
#include "snapshot/take/closed.h"
#include "snapshot/take/hidden.h"
#include "snapshot/take/modes.h"
#include "snapshot/take/path_set.h"
#include "snapshot/take/scan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_REPOSITORIES = 300,
	PARALLEL = 4, // listings of repositories
	NAMED_LEFT_OUT = 20,
	MOST_RETRIES = 4,
};

// A larger file is left out: saving it takes longer than a user waits.
static const off_t file_limit = (off_t)256 * 1024 * 1024;

struct listing {
	const struct store *store;
	struct take *take;
	struct arena *arena;
	struct text input;    // paths of files that are new or have changed, each with a NUL
	struct text doubtful; // those of them that git would take to be unchanged
	struct text modes;    // of the others
	struct path_set known;
	strings repositories; // directories relative to the project, with a slash, to be listed
	size_t next;
	size_t listed; // repositories
	int64_t until_ms;
	bool closed; // git could not open a directory
};

static void leave_out(struct listing *listing, const char *path)
{
	struct take *take = listing->take;

	if (take->left_out_count++ < NAMED_LEFT_OUT)
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

// Adds a file that no earlier snapshot has.
static void add_new(struct listing *listing, const char *path)
{
	const char *full = path_join(listing->arena, listing->store->project, path);

	if (listing->take->closed_since_ms)
		closed_open_file(full, listing->take->closed_since_ms);
	if (!is_readable(full)) {
		leave_out(listing, path);
		return;
	}
	text_add_bytes(&listing->input, path, strlen(path) + 1);
	path_set_add(&listing->known, listing->arena, path);
}

// A run of `git ls-files` in the project, or in a repository in it.
struct directory_run {
	const char *arguments[6];
	const char *directory; // relative to the project, with a slash at its end; or ""
	struct git_run run;
	struct git_process *process;
};

static void begin_listing(const struct listing *listing, struct directory_run *run,
			  const char *directory)
{
	const char *project = listing->store->project;

	*run = (struct directory_run){
		.arguments = { "ls-files", "-z", "--others",
			       listing->take->ignored ? NULL : "--exclude-standard" },
		.directory = directory,
		.run = { .arguments = run->arguments, .input_until_ms = listing->until_ms },
	};
	if (*directory) {
		run->run.worktree = path_join(listing->arena, project, directory);
		run->run.index = "/nonexistent/index";
	}
	run->process = git_begin(listing->store, listing->arena, &run->run);
}

static bool end_listing(struct listing *listing, struct directory_run *run, struct error *error)
{
	const char *end, *name;

	if (!git_end(run->process))
		return git_fail(&run->run, "list the files of the project", error);
	listing->closed |= run->run.message && strstr(run->run.message, "could not open directory");
	end = run->run.output + run->run.output_length;
	for (name = run->run.output; name < end; name += strlen(name) + 1) {
		const char *path = arena_printf(listing->arena, "%s%s", run->directory, name);

		if (str_ends(path, "/"))
			vec_push(listing->arena, &listing->repositories, path);
		else if (*name)
			add_new(listing, path);
	}
	return true;
}

// Lists the files of the project that are new or have changed.
static bool list_files(struct listing *listing, struct error *error)
{
	struct directory_run run;
	struct scan scan;
	bool ok;

	listing->repositories.count = 0;
	listing->input.length = 0;
	begin_listing(listing, &run, "");
	scan = scan_index(listing->store, listing->arena, listing->until_ms);
	listing->known = scan.known;
	listing->take->repositories = scan.repositories;
	listing->modes = scan.modes;
	listing->doubtful = scan.doubtful;
	ok = end_listing(listing, &run, error);
	text_add_bytes(&listing->input, text_get(&scan.changed), scan.changed.length);
	return ok;
}

// Returns whether a repository has something to save: a submodule that is not filled has not.
static bool has_files(const struct listing *listing, const char *directory)
{
	const char *path = path_join(listing->arena, listing->store->project, directory);
	CLEANUP_DIR DIR *stream = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, "..") &&
		    !str_equal(entry->d_name, ".git"))
			return true;
	return !stream; // git reports it
}

// Begins to list the next repositories. Returns their number.
static size_t begin_repositories(struct listing *listing, struct directory_run *runs)
{
	size_t count = 0;

	for (; count < PARALLEL && listing->next < listing->repositories.count; listing->next++) {
		const char *directory = listing->repositories.items[listing->next];

		if (!has_files(listing, directory))
			continue;
		if (listing->listed >= MOST_REPOSITORIES ||
		    clock_monotonic_ms() >= listing->until_ms) {
			leave_out(listing, directory);
			continue;
		}
		listing->listed++;
		begin_listing(listing, &runs[count++], directory);
	}
	return count;
}

// Lists the repositories in the project that no earlier snapshot has.
static void list_repositories(struct listing *listing)
{
	struct directory_run runs[PARALLEL];
	size_t count;

	while ((count = begin_repositories(listing, runs))) {
		for (size_t i = 0; i < count; i++) {
			struct error ignored = { .arena = listing->arena };

			if (!end_listing(listing, &runs[i], &ignored))
				leave_out(listing, runs[i].directory);
		}
	}
}

// Adds the repositories that no earlier snapshot has to the result.
static void note_repositories(struct listing *listing)
{
	strings *all = &listing->take->repositories;

	vec_each(directory, &listing->repositories) {
		if (all->count < MOST_REPOSITORIES)
			vec_push(listing->arena, all,
				 arena_strndup(listing->arena, *directory, strlen(*directory) - 1));
	}
}

// Adds a path of the project's own index.
static bool add_tracked(void *context, const struct git_index_entry *entry)
{
	struct listing *listing = context;
	const char *below = str_after(entry->path, listing->take->prefix);

	if (below && *below && entry->path[entry->length - 1] != '/' &&
	    (entry->mode & GIT_MODE_TYPE) != GIT_MODE_LINK && !path_set_has(&listing->known, below))
		add_new(listing, arena_strdup(listing->arena, below));
	return true;
}

static void add_once(struct listing *listing, const char *path)
{
	if (!path_set_has(&listing->known, path))
		add_new(listing, path);
}

// Adds files that git ignores: those that the session hides, and those that an undo has restored.
static void add_hidden(struct listing *listing)
{
	struct take *take = listing->take;
	strings files = { 0 }, left_out = { 0 };

	if (take->session && !take->ignored)
		files = hidden_list(listing->store, listing->arena,
				    arena_printf(listing->arena, "%s/sessions/%s",
						 listing->store->path, take->session),
				    strtoll(take->session, NULL, 10), &left_out);
	vec_each(path, &files)
		add_once(listing, *path);
	vec_each(path, &left_out)
		leave_out(listing, *path);
	for (size_t i = 0; take->wanted && i < take->wanted->count; i++) {
		const char *path = take->wanted->items[i];
		struct stat status;

		if (lstat(path_join(listing->arena, listing->store->project, path), &status) == 0)
			add_once(listing, path);
	}
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

	listing->take->complete = true;
	for (int i = 0; listing->input.length; i++) {
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
	return true;
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
	struct tracked tracked = { 0 };

	if (!list_files(&listing, error))
		return false;
	if (take->closed_since_ms && (closed_open_paths(listing.arena, store->project,
							&listing.input, take->closed_since_ms) ||
				      listing.closed)) {
		if (listing.closed)
			closed_open_tree(store->project, take->closed_since_ms);
		take->left_out = (strings){ 0 };
		take->left_out_count = 0;
		if (!list_files(&listing, error))
			return false;
	}
	list_repositories(&listing);
	note_repositories(&listing);
	add_hidden(&listing);
	if (take->git_directory) {
		tracked = tracked_open(take->git_directory);
		tracked_each(&tracked, add_tracked, &listing);
		tracked_close(&tracked);
	}
	if (!forget(&listing, &listing.doubtful))
		return error_set(error, "cannot save the files of the project: git failed");
	if (!update_index(&listing, listing.until_ms, error) || !ensure_index(store, error))
		return false;
	take->modes = listing.modes;
	modes_collect(store, &listing.input, &take->modes);
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
