// SPDX-License-Identifier: MIT
// Repositories in the project and submodules: digests of their branches and HEAD.
//
// Theory of operation: boxes can write all of it, so files are read without following links, and
// not more than a bound. The digest has names and values, not files, so that `git pack-refs` and
// `git gc` do not change it. Branches of remotes say what the remote has, and do not count. A file
// .git leads to its directory only if that is one of a submodule of the project: others, of linked
// worktrees, count by their text.
#include "snapshot/refs/nested.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/refs/refs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ENTRIES = 1000,
	MOST_LEVELS = 20,
	FILE_SIZE = 4096,
	PACKED_SIZE = 1024 * 1024,
	DIGITS = 32,
};

struct walk {
	struct arena *arena;
	git_refs refs;
	size_t entries;
};

// Takes the first line of a text.
static const char *first_line(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strcspn(text, "\r\n"));
}

// Returns whether a reference, or those below a directory, count.
static bool is_wanted(const char *name)
{
	return !str_starts(name, "refs/remotes") && !str_starts(name, "refs/prefetch");
}

static void add_value(struct walk *walk, const char *name, const char *value)
{
	if (is_wanted(name))
		vec_push(walk->arena, &walk->refs, (struct git_ref){ name, value });
}

// Adds the references below a directory that have a file each.
static void add_loose(struct walk *walk, int parent, const char *entry_name, const char *name,
		      int levels)
{
	CLEANUP_DIR DIR *stream = levels ? open_directory_stream(parent, entry_name) : NULL;
	const struct dirent *entry;

	while (stream && walk->entries < MOST_ENTRIES && (entry = readdir(stream))) {
		const char *below = arena_printf(walk->arena, "%s/%s", name, entry->d_name);
		const char *text;

		if (entry->d_name[0] == '.' || str_ends(below, ".lock") || !is_wanted(below))
			continue;
		walk->entries++;
		if (entry->d_type == DT_DIR) {
			add_loose(walk, dirfd(stream), entry->d_name, below, levels - 1);
			continue;
		}
		text = file_read_at(walk->arena, dirfd(stream), entry->d_name, FILE_SIZE);
		if (text)
			add_value(walk, below, first_line(walk->arena, text));
	}
}

// Adds the references that are in one file, unless they have a file of their own too.
static void add_packed(struct walk *walk, int directory)
{
	const char *text = file_read_at(walk->arena, directory, "packed-refs", PACKED_SIZE);
	git_refs loose = walk->refs;
	const char *line;

	while (text && walk->entries < MOST_ENTRIES && (line = str_next_line(walk->arena, &text))) {
		const char *name = strchr(line, ' ');

		walk->entries++;
		if (name && *line != '#' && !refs_value(&loose, name + 1))
			add_value(walk, name + 1,
				  arena_strndup(walk->arena, line, (size_t)(name - line)));
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct git_ref *first = a, *second = b;

	return strcmp(first->name, second->name);
}

// Returns the digest of a git directory, NULL: it is none.
static const char *digest_directory(struct arena *arena, int directory)
{
	struct walk walk = { .arena = arena };
	struct text out = { .arena = arena };
	const char *head = file_read_at(arena, directory, "HEAD", FILE_SIZE);
	const char *tables = NULL;

	if (!head)
		return NULL;
	if (strstr(head, "/.invalid")) // the references have the format reftable
		tables = file_read_at(arena, directory, "reftable/tables.list", FILE_SIZE);
	text_printf(&out, "%s\n%s", head, tables ? tables : "");
	add_loose(&walk, directory, "refs", "refs", MOST_LEVELS);
	add_packed(&walk, directory);
	if (walk.entries >= MOST_ENTRIES) // which of them were read is chance
		walk.refs.count = 0;
	if (walk.refs.count)
		qsort(walk.refs.items, walk.refs.count, sizeof(walk.refs.items[0]), compare_names);
	vec_each(ref, &walk.refs)
		text_printf(&out, "%s %s\n", ref->name, ref->value);
	return digest_hex_bytes(arena, text_get(&out), out.length, DIGITS);
}

// Opens the git directory that a file .git names, if it is that of a submodule. Returns -1 if not.
static int open_module(struct arena *arena, const char *directory, const char *text,
		       const char *modules)
{
	const char *target = str_after(first_line(arena, text), "gitdir: ");
	const char *path = target ? path_clean(arena, path_join(arena, directory, target)) : NULL;

	return path && modules && path_within(path, modules)
		       ? file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
		       : -1;
}

const char *nested_digest(struct arena *arena, int project, const char *project_path,
			  const char *path, const char *modules)
{
	CLEANUP_FD int parent = file_open(project, *path ? path : ".", O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int git = parent < 0 ? -1 : file_open(parent, ".git", O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int module = -1;
	const char *text;

	if (git >= 0)
		return digest_directory(arena, git);
	text = parent < 0 ? NULL : file_read_at(arena, parent, ".git", FILE_SIZE);
	if (!text)
		return NULL;
	module = open_module(arena, path_join(arena, project_path, path), text, modules);
	return module >= 0 ? digest_directory(arena, module) : digest_hex(arena, text, DIGITS);
}
