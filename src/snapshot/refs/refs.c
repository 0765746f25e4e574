// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
//
// Theory of operation: the files are read here. git would read the configuration of the repository
// first, which a box can make wait for ever (a FIFO). Only the format reftable is left to git;
// hooks and fsmonitor are switched off on the command line, which beats every file. A stash is a
// list in a reflog, and references of remotes follow the remotes: both are only compared.
#include "snapshot/refs/refs.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEX "0123456789abcdef"

enum {
	HEAD_LIMIT = 4096,
	LIST_MS = 2000,
	MOST_REFS = 20000,
	MOST_LEVELS = 40,
	SHA1_DIGITS = 40,
	PACKED_LIMIT = 64 * 1024 * 1024,
	OUTPUT_LIMIT = 8 * 1024 * 1024
};

// The message of the reflog.
#define REASON "claudebox --undo"

// Adds a reference, unless it is among the first `known`.
static void add_ref(git_refs *refs, struct arena *arena, size_t known, const char *name,
		    const char *value)
{
	for (size_t i = 0; i < known; i++)
		if (str_equal(refs->items[i].name, name))
			return;
	if (!str_starts(name, REFS_KEPT))
		vec_push(arena, refs, (struct git_ref){ name, value });
}

// Asks git, which knows all formats of references.
static void list_by_git(git_refs *refs, const struct store *store, struct arena *arena,
			const char *git_directory)
{
	static const char *const arguments[] = { REFS_SAFE, "for-each-ref",
						 "--format=%(objectname) %(refname)", NULL };
	struct git_run run = { .arguments = arguments,
			       .git_directory = git_directory,
			       .output_limit = OUTPUT_LIMIT,
			       .input_until_ms = clock_monotonic_ms() + LIST_MS };
	const char *line, *cursor;

	if (!git_run(store, arena, &run))
		return;
	cursor = run.output;
	while ((line = str_next_line(arena, &cursor)) && refs->count < MOST_REFS) {
		const char *name = strchr(line, ' ');

		if (name)
			add_ref(refs, arena, 0, name + 1,
				arena_strndup(arena, line, (size_t)(name - line)));
	}
}

// Reads the references that are in one file.
static void list_packed(git_refs *refs, struct arena *arena, const char *common)
{
	const char *text =
		file_read(arena, path_join(arena, common, "packed-refs"), PACKED_LIMIT, 0);
	size_t loose = refs->count;
	const char *line;

	while (text && (line = str_next_line(arena, &text)) && refs->count < MOST_REFS) {
		size_t digits = strspn(line, HEX);

		if (digits >= SHA1_DIGITS && line[digits] == ' ')
			add_ref(refs, arena, loose, line + digits + 1,
				arena_strndup(arena, line, digits));
	}
}

// Reads the references below a directory that have a file each. They count before packed ones.
static void list_loose(git_refs *refs, struct arena *arena, const char *common, const char *prefix,
		       int levels)
{
	CLEANUP_DIR DIR *stream =
		levels ? open_directory_stream(AT_FDCWD, path_join(arena, common, prefix)) : NULL;
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)) && refs->count < MOST_REFS) {
		const char *name = arena_printf(arena, "%s/%s", prefix, entry->d_name);
		const char *text;
		size_t digits;

		if (entry->d_name[0] == '.' || str_ends(name, ".lock"))
			continue;
		if (entry->d_type == DT_DIR) {
			list_loose(refs, arena, common, name, levels - 1);
			continue;
		}
		text = file_read_at(arena, dirfd(stream), entry->d_name, HEAD_LIMIT);
		digits = text ? strspn(text, HEX) : 0;
		if (digits >= SHA1_DIGITS && strchr("\r\n", text[digits]))
			add_ref(refs, arena, 0, name, arena_strndup(arena, text, digits));
	}
}

git_refs refs_list(const struct store *store, struct arena *arena, const char *git_directory)
{
	git_refs refs = { 0 };
	const char *head, *common;

	if (!git_directory)
		return refs;
	head = file_read(arena, path_join(arena, git_directory, "HEAD"), HEAD_LIMIT, 0);
	if (!head)
		return refs;
	common = file_read(arena, path_join(arena, git_directory, "commondir"), HEAD_LIMIT, 0);
	common = common ? path_clean(arena, path_join(arena, git_directory,
						      arena_strndup(arena, common,
								    strcspn(common, "\r\n"))))
			: git_directory;
	vec_push(arena, &refs,
		 (struct git_ref){ "HEAD", arena_strndup(arena, head, strcspn(head, "\r\n")) });
	if (access(path_join(arena, common, "reftable"), F_OK) == 0) {
		list_by_git(&refs, store, arena, git_directory);
		return refs;
	}
	list_loose(&refs, arena, common, "refs", MOST_LEVELS);
	list_packed(&refs, arena, common);
	return refs;
}

const char *refs_value(const git_refs *refs, const char *name)
{
	vec_each(ref, refs) {
		if (str_equal(ref->name, name))
			return ref->value;
	}
	return NULL;
}

json_t *refs_render(const git_refs *refs)
{
	json_t *object = json_object();

	vec_each(ref, refs)
		json_object_set_new(object, ref->name, json_string(ref->value));
	return object;
}

git_refs refs_parse(struct arena *arena, json_t *json)
{
	git_refs refs = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach(json, name, value) {
		if (json_is_string(value))
			vec_push(arena, &refs,
				 (struct git_ref){ arena_strdup(arena, name),
						   arena_strdup(arena, json_string_value(value)) });
	}
	return refs;
}

bool refs_is_object(const char *value)
{
	return *value && !value[strspn(value, "0123456789abcdef")];
}

bool refs_is_restored(const char *name)
{
	static const char *const left[] = { "refs/stash", "refs/remotes/", "refs/prefetch/" };

	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		if (str_starts(name, left[i]))
			return false;
	return str_equal(name, "HEAD") || str_starts(name, "refs/");
}

bool refs_are_lost(const git_refs *before, const git_refs *after)
{
	return before->count && !after->count;
}

bool refs_keep(const struct store *store, struct arena *arena, const char *git_directory,
	       const char *name, const char *object)
{
	const char *const arguments[] = { REFS_SAFE, "update-ref", "--no-deref", "-m",
					  REASON,    name,         object,       NULL };
	struct git_run run = { .arguments = arguments, .git_directory = git_directory };

	return git_run(store, arena, &run);
}

size_t refs_count_commits(const struct store *store, struct arena *arena, const char *git_directory,
			  const git_refs *before, const git_refs *after)
{
	static const char *const arguments[] = { REFS_SAFE,          "rev-list", "--count",
						 "--ignore-missing", "--stdin",  NULL };
	struct text input = { .arena = arena };
	struct git_run run = { .arguments = arguments, .git_directory = git_directory };

	vec_each(ref, after) {
		if (refs_is_restored(ref->name) && refs_is_object(ref->value) &&
		    !str_equal(refs_value(before, ref->name), ref->value))
			text_printf(&input, "%s\n", ref->value);
	}
	if (!input.length)
		return 0;
	vec_each(ref, before) {
		if (refs_is_object(ref->value))
			text_printf(&input, "^%s\n", ref->value);
	}
	run.input = text_get(&input);
	run.input_length = input.length;
	return git_run(store, arena, &run) ? strtoul(run.output, NULL, 10) : 0;
}

bool refs_count_moved(const struct store *store, struct arena *arena, const char *git_directory,
		      const char *before, const char *after, size_t *ret_new, size_t *ret_lost)
{
	const char *const arguments[] = { REFS_SAFE,
					  "rev-list",
					  "--count",
					  "--left-right",
					  arena_printf(arena, "%s...%s", before, after),
					  "--",
					  NULL };
	struct git_run run = { .arguments = arguments, .git_directory = git_directory };
	char *end;

	if (!refs_is_object(before) || !refs_is_object(after) || !git_run(store, arena, &run))
		return false;
	*ret_lost = strtoul(run.output, &end, 10);
	*ret_new = strtoul(end, NULL, 10);
	return true;
}
