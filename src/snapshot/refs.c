// SPDX-License-Identifier: MIT
// Branches, tags and HEAD of the project's repository, as they were at a time.
//
// Theory of operation: git reads the repository, because only git knows all formats of references.
// A box may have written its configuration, so the commands are chosen to execute nothing, and
// hooks and fsmonitor are switched off on the command line, which beats every file.
#include "snapshot/refs.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>

#define KEPT "refs/claudebox/"

enum { HEAD_LIMIT = 4096, MOST_REFS = 20000, OUTPUT_LIMIT = 8 * 1024 * 1024 };

#define SAFE                                                                        \
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",       \
		"core.alternateRefsCommand=:", "-c", "maintenance.auto=false", "-c", \
		"gc.auto=0", "-c", "safe.directory=*"

git_refs refs_list(const struct store *store, struct arena *arena, const char *git_directory)
{
	static const char *const arguments[] = { SAFE, "for-each-ref",
						 "--format=%(objectname) %(refname)", NULL };
	struct git_run run = { .arguments = arguments,
			       .git_directory = git_directory,
			       .output_limit = OUTPUT_LIMIT };
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

		if (name && !str_starts(name + 1, KEPT))
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

git_refs refs_parse(struct arena *arena, const json_t *json)
{
	git_refs refs = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)json, name, value) {
		if (json_is_string(value))
			vec_push(arena, &refs,
				 (struct git_ref){ arena_strdup(arena, name),
						   arena_strdup(arena,
								json_string_value(value)) });
	}
	return refs;
}

// Adds the commands for `git update-ref --stdin` that lead from the present references to the
// wanted ones. Values that would be lost are kept.
static const char *render_commands(struct arena *arena, const char *id, const git_refs *present,
				   const git_refs *wanted)
{
	struct text out = { .arena = arena };

	vec_each(ref, wanted) {
		const char *now = refs_value(present, ref->name);

		if (!str_starts(ref->name, "refs/") || str_equal(now, ref->value))
			continue;
		text_printf(&out, "update %s %s %s\n", ref->name, ref->value,
			    now ? now : "0000000000000000000000000000000000000000");
		if (now)
			text_printf(&out, "update %s%s/%s %s\n", KEPT, id,
				    ref->name + strlen("refs/"), now);
	}
	vec_each(ref, present) {
		if (!str_starts(ref->name, "refs/") || refs_value(wanted, ref->name))
			continue;
		text_printf(&out, "update %s%s/%s %s\n", KEPT, id, ref->name + strlen("refs/"),
			    ref->value);
		text_printf(&out, "delete %s %s\n", ref->name, ref->value);
	}
	return text_get(&out);
}

static bool set_head(const struct store *store, const char *git_directory, const char *value,
		     struct error *error)
{
	const char *branch = str_after(value, "ref: ");
	const char *symbolic[] = { SAFE, "symbolic-ref", "HEAD", branch, NULL };
	const char *detached[] = { SAFE, "update-ref", "--no-deref", "HEAD", value, NULL };
	struct git_run run = { .arguments = branch ? symbolic : detached,
			       .git_directory = git_directory };

	return git_run(store, error->arena, &run) || git_fail(&run, "restore HEAD", error);
}

bool refs_restore(const struct store *store, const char *git_directory, const char *id,
		  const git_refs *present, const git_refs *wanted, struct error *error)
{
	static const char *const arguments[] = { SAFE, "update-ref", "--no-deref", "--stdin",
						 NULL };
	const char *commands = render_commands(error->arena, id, present, wanted);
	struct git_run run = { .arguments = arguments,
			       .git_directory = git_directory,
			       .input = commands,
			       .input_length = strlen(commands) };
	const char *head = refs_value(wanted, "HEAD");

	if (*commands && !git_run(store, error->arena, &run))
		return git_fail(&run, "restore the branches and tags", error);
	return !head || str_equal(head, refs_value(present, "HEAD")) ||
	       set_head(store, git_directory, head, error);
}
