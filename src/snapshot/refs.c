// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
//
// Theory of operation: git reads the repository, because only git knows all formats of references.
// A box may have written its configuration, so the commands are chosen to execute nothing, and
// hooks and fsmonitor are switched off on the command line, which beats every file. A stash is a
// list in a reflog, and references of remotes follow the remotes: both are only compared.
#include "snapshot/refs.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_LIMIT = 4096, LIST_MS = 2000, MOST_REFS = 20000, OUTPUT_LIMIT = 8 * 1024 * 1024 };

// The message of the reflog.
#define REASON "claudebox --undo"

git_refs refs_list(const struct store *store, struct arena *arena, const char *git_directory)
{
	static const char *const arguments[] = { REFS_SAFE, "for-each-ref",
						 "--format=%(objectname) %(refname)", NULL };
	struct git_run run = { .arguments = arguments,
			       .git_directory = git_directory,
			       .output_limit = OUTPUT_LIMIT,
			       .input_until_ms = clock_monotonic_ms() + LIST_MS };
	git_refs refs = { 0 };
	const char *head, *line, *cursor;

	if (!git_directory)
		return refs;
	head = file_read(arena, path_join(arena, git_directory, "HEAD"), HEAD_LIMIT, 0);
	if (!head || !git_run(store, arena, &run))
		return refs;
	vec_push(arena, &refs,
		 (struct git_ref){ "HEAD", arena_strndup(arena, head, strcspn(head, "\r\n")) });
	cursor = run.output;
	while ((line = str_next_line(arena, &cursor)) && refs.count < MOST_REFS) {
		const char *name = strchr(line, ' ');

		if (name && !str_starts(name + 1, REFS_KEPT))
			vec_push(arena, &refs,
				 (struct git_ref){
					 name + 1,
					 arena_strndup(arena, line, (size_t)(name - line)) });
	}
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
