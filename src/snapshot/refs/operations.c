// SPDX-License-Identifier: MIT
// The operations of git that are in progress in a repository: merge, rebase, bisect and others.
//
// Theory of operation: each of them has a file or directory in the git directory. If it stayed when
// branches, HEAD and index are restored, the next commit would be a merge that discards the other
// side. The files are those that git removes with --quit. git itself is not run for it: --quit
// reads the configuration and executes more.
#include "snapshot/refs/operations.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/report/report.h"
#include "snapshot/refs/refs.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 8, MOST_NAMES = 1000, STASH_LIMIT = 200 };

static const struct operation {
	const char *marker;
	const char *name;
	const char *end;               // the command of the user
	const char *files[MOST_FILES]; // that git removes with the marker
} operations[] = {
	{ "MERGE_HEAD",
	  "merge",
	  "git merge --abort",
	  { "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE", "MERGE_AUTOSTASH" } },
	{ "CHERRY_PICK_HEAD",
	  "cherry-pick",
	  "git cherry-pick --abort",
	  { "MERGE_MSG", "MERGE_RR", "AUTO_MERGE" } },
	{ "REVERT_HEAD", "revert", "git revert --abort", { "MERGE_MSG", "MERGE_RR", "AUTO_MERGE" } },
	{ "sequencer", "cherry-pick or revert", "git cherry-pick --abort", { NULL } },
	{ "rebase-merge",
	  "rebase",
	  "git rebase --abort",
	  { "REBASE_HEAD", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE" } },
	{ "rebase-apply",
	  "rebase or am",
	  "git rebase --abort",
	  { "REBASE_HEAD", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE" } },
	{ "BISECT_LOG",
	  "bisect",
	  "git bisect reset",
	  { "BISECT_START", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_NAMES",
	    "BISECT_RUN", "BISECT_TERMS", "BISECT_FIRST_PARENT" } },
};

// The files in which an operation keeps the commit of what it stashed.
static const char *const stashes[] = { "MERGE_AUTOSTASH", "rebase-merge/autostash",
				       "rebase-apply/autostash" };

static void add_status(struct text *out, const char *name, const struct stat *status)
{
	text_printf(out, "%s %o %lld %lld.%09ld;", name, (unsigned)status->st_mode,
		    (long long)status->st_size, (long long)status->st_mtim.tv_sec,
		    status->st_mtim.tv_nsec);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Returns a value that changes with the file or with the files of the directory; NULL: there is
// none.
static const char *read_marker(struct arena *arena, int directory, const char *marker)
{
	CLEANUP_FD int fd = -1;
	struct text out = { .arena = arena };
	struct stat status;
	strings names;

	if (fstatat(directory, marker, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	if (!S_ISDIR(status.st_mode)) {
		add_status(&out, marker, &status);
		return text_get(&out);
	}
	fd = file_open(directory, marker, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return "?";
	names = list_directory_up_to(arena, fd, ".", MOST_NAMES);
	if (names.count)
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
	vec_each(name, &names) {
		if (fstatat(fd, *name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			add_status(&out, *name, &status);
	}
	return text_get(&out);
}

git_refs operations_list(struct arena *arena, const char *git_directory)
{
	CLEANUP_FD int directory = -1;
	git_refs list = { 0 };

	if (git_directory)
		directory = file_open(AT_FDCWD, git_directory, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; directory >= 0 && i < ARRAY_SIZE(operations); i++) {
		const char *value = read_marker(arena, directory, operations[i].marker);

		if (value)
			vec_push(arena, &list, (struct git_ref){ operations[i].marker, value });
	}
	return list;
}

bool operations_judge(const git_refs *before, const git_refs *after, const git_refs *present,
		      struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		const struct operation *operation = &operations[i];
		const char *start = refs_value(before, operation->marker);
		const char *now = refs_value(present, operation->marker);

		if (str_equal(start, now))
			continue;
		if (start) {
			error_set(error,
				  "a %s was in progress at the start of the session, and it cannot "
				  "be restored",
				  operation->name);
			return error_hint(error, "without =commits, claudebox --undo restores the "
						 "files alone");
		}
		if (!str_equal(now, refs_value(after, operation->marker))) {
			error_set(error,
				  "a %s was started or has gone on since the end of the session",
				  operation->name);
			return error_hint(error, "end it first: %s", operation->end);
		}
	}
	return true;
}

strings operations_to_end(struct arena *arena, const git_refs *before, const git_refs *present)
{
	strings names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!refs_value(before, operations[i].marker) &&
		    refs_value(present, operations[i].marker))
			vec_push(arena, &names, operations[i].name);
	}
	return names;
}

// Returns the name of an operation for people. The directory of an am has a file of that name.
static const char *name_operation(const struct operation *operation, const char *value)
{
	if (!str_equal(operation->marker, "rebase-apply"))
		return operation->name;
	return strstr(value, "applying ") ? "am" : "rebase";
}

// Returns whether an operation is that of another marker in the list too: several commits to be
// picked have both.
static bool is_second(const struct operation *operation, const git_refs *list)
{
	return str_equal(operation->marker, "sequencer") &&
	       (refs_value(list, "CHERRY_PICK_HEAD") || refs_value(list, "REVERT_HEAD"));
}

report_operations operations_compare(struct arena *arena, const git_refs *before,
				     const git_refs *after)
{
	report_operations list = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		const struct operation *operation = &operations[i];
		const char *start = refs_value(before, operation->marker);
		const char *end = refs_value(after, operation->marker);
		struct report_operation change = {
			.name = name_operation(operation, end     ? end
							  : start ? start
								  : ""),
			.change = !start ? OPERATION_STARTED
				  : !end ? OPERATION_ENDED
					 : OPERATION_CONTINUED,
		};

		if (!str_equal(start, end) && !is_second(operation, end ? after : before))
			vec_push(arena, &list, change);
	}
	return list;
}

// Keeps what the operations stashed. A box can write anything there, so a failure ends nothing.
static void keep_stashes(const struct store *store, struct arena *arena, int directory,
			 const char *git_directory, const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(stashes); i++) {
		const char *text = file_read_at(arena, directory, stashes[i], STASH_LIMIT);
		const char *object = text ? arena_strndup(arena, text, strcspn(text, "\r\n")) : "";

		if (refs_is_object(object))
			refs_keep(store, arena, git_directory,
				  arena_printf(arena, REFS_KEPT "%s/autostash-%zu", id, i), object);
	}
}

static bool remove_entry(int directory, const char *name, struct error *error)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || write_fail(error, "remove", name);
	if (S_ISDIR(status.st_mode))
		return remove_tree(directory, name, error);
	return unlinkat(directory, name, 0) == 0 || write_fail(error, "remove", name);
}

bool operations_end(const struct store *store, const char *git_directory, const char *id,
		    const git_refs *before, struct error *error)
{
	CLEANUP_FD int directory = file_open(AT_FDCWD, git_directory, O_RDONLY | O_DIRECTORY);
	git_refs present = operations_list(error->arena, git_directory);
	bool ok = true;

	if (directory < 0)
		return write_fail(error, "open", git_directory);
	if (operations_to_end(error->arena, before, &present).count)
		keep_stashes(store, error->arena, directory, git_directory, id);
	for (size_t i = 0; ok && i < ARRAY_SIZE(operations); i++) {
		const struct operation *operation = &operations[i];

		if (refs_value(before, operation->marker) ||
		    !refs_value(&present, operation->marker))
			continue;
		ok = remove_entry(directory, operation->marker, error);
		for (size_t j = 0; ok && j < MOST_FILES && operation->files[j]; j++)
			ok = remove_entry(directory, operation->files[j], error);
	}
	return ok;
}
