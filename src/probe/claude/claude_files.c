// SPDX-License-Identifier: MIT
// Examines the user's Claude files and the company's policy for secrets.
//
// Theory of operation: the first pass walks a directory without following links and collects
// findings: names that do not come along, and small texts with secrets. Without a finding the
// directory is mounted as a whole. Otherwise the second pass lists the directories on the way to
// the findings, and only those: each is a new directory in the box, in which the clean entries are
// mounted one by one. A cover over a file would vanish when a host program replaces that file.
#include "probe/claude/claude_files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/files.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"
#include "probe/claude/searched_files.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A mount takes about 0.1 ms of a start, and a descriptor of at most 1024.
enum {
	MAX_ENTRIES = 100 * 1000,
	MAX_BYTES = 64 * 1024 * 1024,
	MAX_TIME_MS = 3000,
	MAX_DEPTH = 40,
	MAX_FINDINGS = 400,
	MAX_PARTS = 400,
};

struct scan {
	struct arena *arena;
	claude_parts *parts;
	claude_parts findings; // CLEANED and LEFT_OUT
	strings *doubtful;     // NULL: not of interest
	struct searched_files *searched;
	bool policy;
	bool incomplete; // a part was not examined
	bool too_many;   // there are more findings than the box can leave out
	size_t entries;
	size_t bytes;
	int64_t start_ms;
	char path[PATH_MAX]; // of the entry under examination
};

static void add_finding(struct scan *scan, enum claude_part_kind kind, const char *content,
			const char *why)
{
	if (scan->findings.count == MAX_FINDINGS) {
		scan->too_many = true;
		return;
	}
	vec_push(scan->arena, &scan->findings,
		 (struct claude_part){ .kind = kind,
				       .path = arena_strdup(scan->arena, scan->path),
				       .source = content ? arena_strdup(scan->arena, content)
							 : NULL,
				       .why = arena_strdup(scan->arena, why) });
}

// Judges the text of a file, unless an earlier start has found no secret in it.
static void scan_text(struct scan *scan, int directory, const char *name)
{
	const char *judged_as = path_name(scan->path);
	struct arena scratch = { 0 };
	struct searched_file file;
	size_t length;
	char *bytes;
	const char *content = NULL;
	const char *why = NULL;
	enum claude_part_kind kind = CLAUDE_PART_HOST;

	if (searched_files_have(scan->searched, directory, name, judged_as))
		return;
	bytes = searched_files_read(scan->searched, &scratch, directory, name, judged_as, &length,
				    &file);
	if (bytes) {
		kind = claude_judge_bytes(&scratch, judged_as, bytes, length, scan->policy,
					  &content, &why);
		scan->bytes += length;
	} else if (scan->policy) {
		kind = CLAUDE_PART_LEFT_OUT;
		why = "it cannot be read as text";
	}
	if (kind != CLAUDE_PART_HOST)
		add_finding(scan, kind, content, why);
	else if (why && scan->doubtful)
		vec_push(scan->arena, scan->doubtful,
			 arena_printf(scan->arena, "'%s' line %s",
				      quote_word(scan->arena, scan->path, 160), why));
	else if (bytes && !why)
		searched_files_add(scan->searched, &file);
	arena_free(&scratch);
}

static unsigned char type_of(int directory, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_LNK;
	return IFTODT(status.st_mode);
}

static void scan_directory(struct scan *scan, int parent, const char *name, bool in_modules,
			   int depth);

static void scan_entry(struct scan *scan, int directory, const char *name, unsigned char type,
		       bool in_modules, int depth)
{
	// Policy must apply as far as possible, whatever its files are called.
	const char *refused =
		scan->policy ? NULL : claude_name_refused(scan->path, type == DT_DIR, in_modules);

	if (type == DT_LNK)
		return; // It leads to a path of the box.
	if (refused)
		add_finding(scan, CLAUDE_PART_LEFT_OUT, NULL, refused);
	else if (type == DT_DIR)
		scan_directory(scan, directory, name, in_modules || str_equal(name, "node_modules"),
			       depth + 1);
	else if (type != DT_REG)
		add_finding(scan, CLAUDE_PART_LEFT_OUT, NULL,
			    "it is neither a file nor a directory");
	else if (scan->policy || !in_modules)
		scan_text(scan, directory, name);
}

static void scan_directory(struct scan *scan, int parent, const char *name, bool in_modules,
			   int depth)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(parent, name);
	size_t length = strlen(scan->path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		size_t name_size = strlen(entry->d_name) + 1;

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (scan->entries++ == MAX_ENTRIES || scan->bytes > MAX_BYTES ||
		    clock_monotonic_ms() - scan->start_ms > MAX_TIME_MS || depth == MAX_DEPTH ||
		    length + 1 + name_size > sizeof(scan->path)) {
			scan->incomplete = true;
			return;
		}
		scan->path[length] = '/';
		memcpy(scan->path + length + 1, entry->d_name, name_size);
		scan_entry(scan, dirfd(directory), entry->d_name, type_of(dirfd(directory), entry),
			   in_modules, depth);
		scan->path[length] = '\0';
	}
}

static bool has_finding_below(const struct scan *scan, const char *path)
{
	vec_each(finding, &scan->findings) {
		if (path_within(finding->path, path))
			return true;
	}
	return false;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_part(struct scan *scan, enum claude_part_kind kind, const char *path,
		     const char *source, const struct stat *status, const char *why)
{
	vec_push(scan->arena, scan->parts,
		 (struct claude_part){ .kind = kind,
				       .path = path,
				       .source = source,
				       .id = status ? file_identity(status) : (struct file_id){ 0 },
				       .why = why });
}

// Adds an entry without findings. One that has been removed meanwhile is not added.
static void add_clean(struct scan *scan, const char *host, const char *path)
{
	char target[PATH_MAX];
	struct stat status;
	ssize_t length;

	if (lstat(host, &status) < 0)
		return;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
		add_part(scan, CLAUDE_PART_HOST, path, host, &status, NULL);
		return;
	}
	length = S_ISLNK(status.st_mode) ? readlink(host, target, sizeof(target)) : -1;
	if (length > 0 && (size_t)length < sizeof(target))
		add_part(scan, CLAUDE_PART_LINK, path,
			 arena_strndup(scan->arena, target, (size_t)length), NULL, NULL);
}

// Adds a directory of the host, which contains findings, entry by entry.
static void split_directory(struct scan *scan, const char *host, const char *path)
{
	struct arena *arena = scan->arena;
	strings names = list_directory(arena, AT_FDCWD, host);

	if (scan->parts->count + names.count >= MAX_PARTS) {
		add_part(scan, CLAUDE_PART_LEFT_OUT, path, NULL, NULL,
			 "a part of it looks like a secret, and it has too many entries to mount "
			 "them one by one");
		return;
	}
	add_part(scan, CLAUDE_PART_DIRECTORY, path, NULL, NULL, NULL);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	vec_each(name, &names) {
		const char *below = path_join(arena, path, *name);
		const char *host_below = path_join(arena, host, *name);
		const struct claude_part *finding = claude_part_find(&scan->findings, below);

		if (finding)
			vec_push(arena, scan->parts, *finding);
		else if (has_finding_below(scan, below))
			split_directory(scan, host_below, below);
		else
			add_clean(scan, host_below, below);
	}
}

// Examines a file or directory and adds its parts, if it does not come as a whole. `name` is the
// path of the parts. Returns false if it comes without being examined completely.
static bool scan_root(struct scan *scan, const struct followed *root, const char *name)
{
	size_t before = scan->parts->count;

	snprintf(scan->path, sizeof(scan->path), "%s", name);
	if (root->kind == FILE_DIRECTORY) {
		scan_directory(scan, AT_FDCWD, root->real, false, 0);
		if (scan->findings.count)
			split_directory(scan, root->real, name);
	} else {
		scan_text(scan, AT_FDCWD, root->real);
		vec_each(finding, &scan->findings)
			vec_push(scan->arena, scan->parts, *finding);
	}
	if (!scan->too_many && !(scan->policy && scan->incomplete))
		return !scan->incomplete;
	scan->parts->count = before;
	add_part(scan, CLAUDE_PART_LEFT_OUT, name, NULL, NULL, "too many of its files are secrets");
	return true;
}

// Judges the user's CLAUDE.md, which comes along in any case. It is judged in another way than
// files of that name elsewhere.
static void scan_instructions(struct user_claude_facts *user, struct arena *arena, const char *path,
			      struct searched_files *searched)
{
	static const char judged_as[] = "/CLAUDE.md";
	struct searched_file file;
	size_t length;
	const char *text;

	if (searched_files_have(searched, AT_FDCWD, path, judged_as))
		return;
	text = searched_files_read(searched, arena, AT_FDCWD, path, judged_as, &length, &file);
	if (!text || memchr(text, '\0', length))
		return;
	claude_without_secret_lines(arena, text, &user->secret_lines);
	if (!user->secret_lines)
		searched_files_add(searched, &file);
}

void probe_claude_files(struct facts *facts, struct arena *arena)
{
	struct user_claude_facts *user = &facts->user_claude;
	struct searched_files searched;
	int64_t start = clock_monotonic_ms();
	size_t entries = 0;
	size_t bytes = 0;

	if (!user->entries.count)
		return;
	searched_files_start(&searched, arena, facts);
	vec_each(entry, &user->entries) {
		const char *name = path_name(entry->path);
		struct scan scan = { .arena = arena,
				     .parts = &user->parts,
				     .doubtful = &user->doubtful,
				     .searched = &searched,
				     .entries = entries,
				     .bytes = bytes,
				     .start_ms = start };

		if (str_equal(name, "CLAUDE.md")) {
			scan_instructions(user, arena, entry->real, &searched);
			continue;
		}
		if (plan_near_secret(facts, entry->real))
			continue; // The plan leaves it out.
		if (!scan_root(&scan, entry, name))
			vec_push(arena, &user->unexamined, name);
		entries = scan.entries;
		bytes = scan.bytes;
	}
	searched_files_finish(&searched, facts);
}

void probe_policy_files(struct facts *facts, struct arena *arena)
{
	struct searched_files none = { 0 };

	for (size_t i = 0; i < system_table_count; i++) {
		const struct followed *file = facts_file(facts, system_table[i].path);
		struct scan scan = { .arena = arena,
				     .parts = &facts->policy_parts,
				     .searched = &none,
				     .policy = true,
				     .start_ms = clock_monotonic_ms() };

		if (!file || file->kind == FILE_MISSING ||
		    !path_within(system_table[i].path, BOX_POLICY))
			continue;
		scan_root(&scan, file, path_name(file->path));
	}
}
