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
#include "base/quote.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/write.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT "refs/claudebox/"

enum {
	INDEX_LIMIT = 512 * 1024 * 1024,
	HEAD_LIMIT = 4096,
	LIST_MS = 2000,
	MOST_REFS = 20000,
	OUTPUT_LIMIT = 8 * 1024 * 1024
};

#define SAFE                                                                                      \
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",                     \
		"core.alternateRefsCommand=:", "-c", "maintenance.auto=false", "-c", "gc.auto=0", \
		"-c", "safe.directory=*"

git_refs refs_list(const struct store *store, struct arena *arena, const char *git_directory)
{
	static const char *const arguments[] = { SAFE, "for-each-ref",
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

static bool is_object(const char *value)
{
	return *value && !value[strspn(value, "0123456789abcdef")];
}

size_t refs_count_commits(const struct store *store, struct arena *arena, const char *git_directory,
			  const git_refs *before, const git_refs *after)
{
	static const char *const arguments[] = { SAFE,      "rev-list",
						 "--count", "--ignore-missing",
						 "--stdin", NULL };
	struct text input = { .arena = arena };
	struct git_run run = { .arguments = arguments, .git_directory = git_directory };

	vec_each(ref, after) {
		if (is_object(ref->value) && !str_equal(refs_value(before, ref->name), ref->value))
			text_printf(&input, "%s\n", ref->value);
	}
	if (!input.length)
		return 0;
	vec_each(ref, before) {
		if (is_object(ref->value))
			text_printf(&input, "^%s\n", ref->value);
	}
	run.input = text_get(&input);
	run.input_length = input.length;
	return git_run(store, arena, &run) ? strtoul(run.output, NULL, 10) : 0;
}

// Adds the command that changes a reference, and one that keeps a value which would be lost.
static void add_command(struct text *out, const struct refs_undo *undo, const char *name,
			const char *from, const char *to)
{
	if (!str_starts(name, "refs/"))
		return;
	if (to)
		text_printf(out, "update %s %s %s\n", name, to,
			    from ? from : "0000000000000000000000000000000000000000");
	else
		text_printf(out, "delete %s %s\n", name, from);
	if (from)
		text_printf(out, "update " KEPT "%s/%s %s\n", undo->id, name + strlen("refs/"),
			    from);
}

// Adds a reference that the session changed. Returns false with an error if it was changed since.
static bool add_change(struct text *out, const struct refs_undo *undo, const char *name,
		       const char *before, const char *after, struct error *error)
{
	const char *now = refs_value(&undo->present, name);

	if (str_equal(now, before))
		return true;
	if (!str_equal(now, after)) {
		error_set(error, "'%s' was changed since the end of the session",
			  quote_display(error->arena, name, 120));
		return error_hint(error, "nothing was changed; without =commits, claudebox --undo "
					 "restores the files alone");
	}
	add_command(out, undo, name, after, before);
	return true;
}

static bool render_commands(struct text *out, const struct refs_undo *undo, const git_refs *before,
			    const git_refs *after, struct error *error)
{
	vec_each(ref, after) {
		const char *value = refs_value(before, ref->name);

		if (!str_equal(value, ref->value) &&
		    !add_change(out, undo, ref->name, value, ref->value, error))
			return false;
	}
	vec_each(ref, before) {
		if (!refs_value(after, ref->name) &&
		    !add_change(out, undo, ref->name, ref->value, NULL, error))
			return false;
	}
	return true;
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

// Replaces the index of the repository by a recorded one, under git's lock.
static bool restore_index(const struct refs_undo *undo, struct error *error)
{
	struct arena *arena = error->arena;
	CLEANUP_FD int directory = file_open(AT_FDCWD, undo->git_directory, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int from = file_open(AT_FDCWD, path_join(arena, undo->session, "index"),
					O_RDONLY | O_NONBLOCK);
	CLEANUP_FD int lock = -1;
	size_t length;
	const char *bytes = from < 0 ? NULL : file_read_bytes(arena, from, INDEX_LIMIT, &length);

	if (!bytes)
		return true;
	lock = directory < 0 ? -1
			     : openat(directory, "index.lock",
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (lock < 0)
		return write_fail(error, "lock", path_join(arena, undo->git_directory, "index"));
	if (write_all(lock, bytes, length) &&
	    renameat(directory, "index.lock", directory, "index") == 0)
		return true;
	write_fail(error, "restore", path_join(arena, undo->git_directory, "index"));
	unlinkat(directory, "index.lock", 0);
	return false;
}

bool refs_save(const struct store *store, const struct refs_undo *undo, struct error *error)
{
	const char *name = arena_printf(error->arena, "sessions/%s", undo->id);
	CLEANUP_FD int session = -1;

	if (mkdirat(store->directory, name, 0700) < 0)
		return write_fail(error, "create", name);
	session = file_open(store->directory, name, O_RDONLY | O_DIRECTORY);
	return session >= 0 ? refs_copy_index(session, undo->git_directory, error)
			    : write_fail(error, "open", name);
}

bool refs_copy_index(int session, const char *git_directory, struct error *error)
{
	CLEANUP_FD int fd = -1;
	size_t length;
	const char *bytes;

	if (!git_directory)
		return true;
	fd = file_open(AT_FDCWD, path_join(error->arena, git_directory, "index"),
		       O_RDONLY | O_NONBLOCK);
	bytes = fd < 0 ? NULL : file_read_bytes(error->arena, fd, INDEX_LIMIT, &length);
	return !bytes || replace_file_bytes(session, "index", bytes, length, error);
}

bool refs_undo(const struct store *store, const struct refs_undo *undo, const git_refs *before,
	       const git_refs *after, struct error *error)
{
	static const char *const arguments[] = { SAFE, "update-ref", "--no-deref", "--stdin",
						 NULL };
	struct text commands = { .arena = error->arena };
	const char *head = refs_value(before, "HEAD");
	struct git_run run = { .arguments = arguments, .git_directory = undo->git_directory };

	if (!undo->git_directory) {
		error_set(error, "the project has no git repository");
		return error_hint(error, "without =commits, claudebox --undo restores the files");
	}
	if (!render_commands(&commands, undo, before, after, error))
		return false;
	run.input = text_get(&commands);
	run.input_length = commands.length;
	if (commands.length && !git_run(store, error->arena, &run))
		return git_fail(&run, "restore the branches and tags", error);
	return (!head || str_equal(head, refs_value(&undo->present, "HEAD")) ||
		set_head(store, undo->git_directory, head, error)) &&
	       restore_index(undo, error);
}

bool refs_redo(const struct store *store, const struct refs_undo *undo, struct error *error)
{
	struct refs_undo back = *undo;

	back.session = "/nonexistent";
	back.present = refs_list(store, error->arena, undo->git_directory);
	return refs_undo(store, &back, &undo->present, &back.present, error);
}
