// SPDX-License-Identifier: MIT
// What differs between two snapshots.
#include "snapshot/changes.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/report/change.h"
#include "snapshot/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OBJECT_LIMIT = 80, GROUP_OBJECTS = 2000, GROUP_BYTES = 64 * 1024 * 1024 };

// Returns the next text that ends with NUL, NULL at the end.
static const char *next_text(const char **cursor, const char *end)
{
	const char *text = *cursor;

	if (text >= end)
		return NULL;
	*cursor = text + strlen(text) + 1;
	return text;
}

// Parses ":100644 100755 OLD NEW M".
static bool parse_raw(struct arena *arena, const char *line, struct file_change *ret_change)
{
	const char *words[5];
	const char *cursor = line + 1;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!(words[i] = str_next_word(arena, &cursor)))
			return false;
	*ret_change = (struct file_change){
		.before = { (uint32_t)strtoul(words[0], NULL, 8), words[2] },
		.after = { (uint32_t)strtoul(words[1], NULL, 8), words[3] },
	};
	return line[0] == ':';
}

// Returns whether a path is another one or lies below it.
static bool is_at(const char *path, const char *wanted)
{
	const char *rest = str_after(path, wanted);

	return !*wanted || (rest && (!*rest || *rest == '/'));
}

static bool is_wanted(const strings *only, const char *path)
{
	if (!only || !only->count)
		return true;
	vec_each(wanted, only) {
		if (is_at(path, *wanted))
			return true;
	}
	return false;
}

bool changes_have(const file_changes *changes, const char *path)
{
	vec_each(change, changes) {
		if (is_at(change->path, path))
			return true;
	}
	return false;
}

bool changes_list(const struct store *store, const char *before, const char *after,
		  const strings *only, file_changes *ret_changes, struct error *error)
{
	const char *const arguments[] = { "diff-tree",   "-r",   "-z",  "--raw", "--no-renames",
					  "--no-abbrev", before, after, NULL };
	struct git_run run = { .arguments = arguments };
	const char *cursor, *end, *line;

	*ret_changes = (file_changes){ 0 };
	if (!git_run(store, error->arena, &run))
		return git_fail(&run, "compare the snapshots", error);
	cursor = run.output;
	end = run.output + run.output_length;
	while ((line = next_text(&cursor, end))) {
		const char *path = next_text(&cursor, end);
		struct file_change change;

		if (!path || !parse_raw(error->arena, line, &change))
			return error_set(error, "cannot compare the snapshots: git's answer is not "
						"understood");
		change.path = path;
		if (is_wanted(only, path))
			vec_push(error->arena, ret_changes, change);
	}
	return true;
}

void changes_count_lines(const struct store *store, struct arena *arena, const char *before,
			 const char *after, file_changes *changes)
{
	const char *const arguments[] = { "-c",
					  "core.bigFileThreshold=16m",
					  "diff-tree",
					  "-r",
					  "-z",
					  "--numstat",
					  "--no-renames",
					  "--no-ext-diff",
					  "--no-textconv",
					  before,
					  after,
					  NULL };
	struct git_run run = { .arguments = arguments };
	const char *cursor, *end, *line;
	size_t at = 0;

	if (!git_run(store, arena, &run))
		return;
	cursor = run.output;
	end = run.output + run.output_length;
	// "ADDED\tREMOVED\tPATH", in the order of the list; a dash: the file is not text.
	while ((line = next_text(&cursor, end))) {
		const char *removed = strchr(line, '\t');
		const char *path = removed ? strchr(removed + 1, '\t') : NULL;
		struct file_change *change;

		if (!path || at == changes->count)
			return;
		if (!str_equal(changes->items[at].path, path + 1))
			continue; // a path that is not in the list
		change = &changes->items[at++];
		change->counted = true;
		change->binary = line[0] == '-';
		change->added = change->binary ? 0 : strtoul(line, NULL, 10);
		change->removed = change->binary ? 0 : strtoul(removed + 1, NULL, 10);
	}
}

const char *changes_read(const struct store *store, struct arena *arena, const char *object,
			 size_t limit, size_t *ret_length)
{
	const char *const arguments[] = { "cat-file", "blob", object, NULL };
	struct git_run run = { .arguments = arguments, .output_limit = limit };

	*ret_length = 0;
	if (strlen(object) > OBJECT_LIMIT || !git_run(store, arena, &run) ||
	    run.output_length > limit)
		return NULL;
	*ret_length = run.output_length;
	return run.output;
}

// Parses the header "ID blob SIZE" of `git cat-file --batch`. Returns false if there is no such
// object.
static bool parse_header(const char *header, const char *end, size_t *ret_size,
			 const char **ret_content)
{
	const char *newline = memchr(header, '\n', (size_t)(end - header));
	const char *kind = newline ? memchr(header, ' ', (size_t)(newline - header)) : NULL;

	if (!kind || !str_starts(kind, " blob "))
		return false;
	*ret_size = strtoul(kind + strlen(" blob "), NULL, 10);
	*ret_content = newline + 1;
	return true;
}

// Renders the ids of objects, one in each line.
static struct text list_objects(struct arena *arena, const struct blob *blobs, size_t count)
{
	struct text list = { .arena = arena };

	for (size_t i = 0; i < count; i++)
		text_printf(&list, "%s\n", blobs[i].object);
	return list;
}

// Reads some objects by one run of git.
static bool read_group(const struct store *store, const struct blob *blobs, size_t first,
		       size_t count, blob_handler handle, void *context, struct error *error)
{
	static const char *const arguments[] = { "cat-file", "--batch", NULL };
	struct arena arena = { 0 };
	struct text input = list_objects(&arena, blobs + first, count);
	struct git_run run = { .arguments = arguments,
			       .input = text_get(&input),
			       .input_length = input.length };
	bool ok = git_run(store, &arena, &run) || git_fail(&run, "read the snapshot", error);
	const char *at = run.output, *end = run.output + run.output_length, *content;

	for (size_t i = first; ok && i < first + count; i++) {
		size_t size;

		ok = parse_header(at, end, &size, &content) && size == blobs[i].size &&
		     content + size < end;
		if (!ok)
			error_set(error, "cannot read the snapshot: an object is missing");
		ok = ok && handle(context, i, content, size, error);
		at = ok ? content + size + 1 : at;
	}
	arena_free(&arena);
	return ok;
}

// Finds out the sizes of objects.
static bool measure(const struct store *store, struct blob *blobs, size_t count,
		    struct error *error)
{
	static const char *const arguments[] = { "cat-file", "--batch-check", NULL };
	struct text input = list_objects(error->arena, blobs, count);
	struct git_run run = { .arguments = arguments,
			       .input = text_get(&input),
			       .input_length = input.length };
	const char *at, *end, *next;

	if (!git_run(store, error->arena, &run))
		return git_fail(&run, "read the snapshot", error);
	at = run.output;
	end = run.output + run.output_length;
	for (size_t i = 0; i < count; i++, at = next)
		if (!parse_header(at, end, &blobs[i].size, &next))
			return error_set(error, "cannot read the snapshot: an object is missing");
	return true;
}

bool changes_read_all(const struct store *store, struct blob *blobs, size_t count,
		      blob_handler handle, void *context, struct error *error)
{
	if (count && !measure(store, blobs, count, error))
		return false;
	for (size_t first = 0, next; first < count; first = next) {
		size_t total = 0;

		for (next = first; next < count && next - first < GROUP_OBJECTS &&
				   (next == first || total + blobs[next].size <= GROUP_BYTES);
		     next++)
			total += blobs[next].size;
		if (!read_group(store, blobs, first, next - first, handle, context, error))
			return false;
	}
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

// Reads the inode numbers of the files that a session found, as git keeps them: 32 bits.
static void read_inodes(struct known_files *known, const struct store *store, struct arena *arena,
			const char *id)
{
	static const char *const arguments[] = { "ls-files", "--debug", "-z", NULL };
	static const char mark[] = "\tino: ";
	struct git_run run = {
		.arguments = arguments,
		.index = arena_printf(arena, "%s/sessions/%s/before", store->path, id),
	};
	const char *at, *end;

	known->complete = git_run(store, arena, &run);
	at = run.output;
	end = run.output + run.output_length;
	while (at < end && (at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
		at += strlen(mark);
		vec_push(arena, &known->inodes, (uint32_t)strtoul(at, NULL, 10));
	}
	if (known->inodes.count)
		qsort(known->inodes.items, known->inodes.count, sizeof(uint32_t), compare_numbers);
}

bool changes_is_older(struct known_files *known, const struct store *store, struct arena *arena,
		      const struct file_change *change)
{
	const char *path = path_join(arena, store->project, change->path);
	struct statx status;
	uint32_t inode;

	if (change->before.mode || !known->started_ms ||
	    statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_INO, &status) < 0 ||
	    !(status.stx_mask & STATX_BTIME) ||
	    (int64_t)status.stx_btime.tv_sec * 1000 + status.stx_btime.tv_nsec / 1000000 >=
		    known->started_ms)
		return false;
	if (!known->read)
		read_inodes(known, store, arena, known->id);
	known->read = true;
	inode = (uint32_t)status.stx_ino;
	return known->complete &&
	       !(known->inodes.count && bsearch(&inode, known->inodes.items, known->inodes.count,
						sizeof(inode), compare_numbers));
}
