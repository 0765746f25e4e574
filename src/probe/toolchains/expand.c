// SPDX-License-Identifier: MIT
// Expands the listed parts of a toolchain manager to the files that exist.
//
// Theory of operation: a pattern of the table is expanded component by component. A name without a
// wildcard costs nothing until the end, where one system call resolves the whole path; a wildcard
// costs one listing. Names are sorted, so that the plan does not depend on the order of a
// directory. Numbers of names and parts are limited: a start must not depend on the size of an
// installation.
#include "probe/toolchains/expand.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "plan/secrets/detect.h"
#include "plan/toolchains/facts.h"
#include "probe/programs.h"
#include "probe/toolchains/installs.h"
#include "probe/toolchains/links.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_PARTS = 256,    // of one directory tree
	MAX_NAMES = 128,    // that one wildcard matches
	MAX_SCANNED = 4096, // entries of one directory
	MAX_ENTRIES = 128,  // of a directory that is mounted entry by entry
};

struct expansion {
	struct toolchain_found *found;
	struct arena *arena;
	struct facts *facts;
	const strings *projects;
	const char *checked; // the last directory that only the user and root can write
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_program(int directory, const struct dirent *entry)
{
	struct stat status;

	return (entry->d_type == DT_REG || entry->d_type == DT_LNK ||
		entry->d_type == DT_UNKNOWN) &&
	       fstatat(directory, entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_mode & S_IXUSR);
}

// Returns whether a name matches a pattern: "!" matches program files, "name!" one of them.
static bool matches(int directory, const struct dirent *entry, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] != '!')
		return fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0;
	if (length > 1)
		return strlen(entry->d_name) == length - 1 && str_starts(pattern, entry->d_name) &&
		       is_program(directory, entry);
	return entry->d_name[0] != '.' && !secret_file_name(entry->d_name) &&
	       is_program(directory, entry);
}

// Returns the names in a directory that match a pattern, sorted.
static strings matching_names(struct expansion *expansion, const char *path, const char *pattern)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	strings names = { 0 };
	int scanned = 0;

	while (directory && (entry = readdir(directory)) && scanned++ < MAX_SCANNED) {
		if (!matches(dirfd(directory), entry, pattern))
			continue;
		if (names.count == MAX_NAMES) {
			expansion->found->truncated = true;
			break;
		}
		vec_push(expansion->arena, &names, arena_strdup(expansion->arena, entry->d_name));
	}
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	return names;
}

static bool is_on_path(const struct facts *facts, const char *directory)
{
	vec_each(entry, &facts->toolchains.path) {
		if (entry->directory.kind == FILE_DIRECTORY &&
		    str_equal(entry->directory.real, directory))
			return true;
	}
	return false;
}

// Returns whether other users can write to an entry of a directory that is not a link.
static bool is_untrusted(const struct expansion *expansion, int directory,
			 const struct dirent *entry)
{
	struct stat status;

	return entry->d_type != DT_LNK &&
	       fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISLNK(status.st_mode) && probe_writable_by_others(expansion->facts, &status);
}

// Returns whether a file in a directory of programs has the name of a secret. A program may have
// such a name ("gen-password"), other files there may not.
static bool is_secret(int directory, const struct dirent *entry, bool programs)
{
	return secret_file_name(entry->d_name) ||
	       (programs && entry->d_type != DT_LNK && secret_name(entry->d_name) &&
		!is_program(directory, entry));
}

static bool has_programs(const char *path)
{
	static const char *const names[] = { "bin", "sbin", "shims", "condabin" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_equal(path_name(path), names[i]))
			return true;
	return false;
}

// Records the links of `npm link` in a directory of packages: the part, or one in its "lib".
static void read_packages(struct expansion *expansion, const struct toolchain_part *part)
{
	struct arena *arena = expansion->arena;
	const char *path = part->file.real;

	if (str_equal(path_name(path), "lib"))
		path = path_join(arena, path, "node_modules");
	if (str_equal(path_name(path), "node_modules"))
		links_read_packages(expansion->facts, arena, path);
}

// Lists the entries of a directory one by one if some of their names look like secrets, or, in a
// directory of PATH, if other users can write to some of them. The plan then mounts the others, so
// that no secret is there, and none appears later.
static void split_directory(struct expansion *expansion, struct toolchain_part *part)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, part->file.real);
	struct arena *arena = expansion->arena;
	bool on_path = is_on_path(expansion->facts, part->file.real);
	bool programs = on_path || has_programs(part->file.real);
	const struct dirent *entry;
	strings names = { 0 };
	int scanned = 0;

	while (directory && (entry = readdir(directory)) && scanned++ < MAX_SCANNED) {
		bool below = entry->d_type == DT_DIR;

		if (entry->d_type == DT_LNK)
			links_add(expansion->facts, arena, dirfd(directory), part->file.real,
				  entry->d_name);

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (str_equal(entry->d_name, ".git") ||
		    (!below && is_secret(dirfd(directory), entry, programs)))
			vec_push(arena, &part->secrets, arena_strdup(arena, entry->d_name));
		else if (on_path && is_untrusted(expansion, dirfd(directory), entry))
			vec_push(arena, &part->untrusted, arena_strdup(arena, entry->d_name));
		else if (names.count <= MAX_ENTRIES)
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	}
	read_packages(expansion, part);
	if (!part->secrets.count && !part->untrusted.count)
		return;
	part->split = true;
	if (names.count > MAX_ENTRIES) {
		part->problem =
			part->secrets.count
				? arena_printf(arena,
					       "it has more than %d entries, and one that looks "
					       "like a secret: '%s'",
					       MAX_ENTRIES, part->secrets.items[0])
				: arena_printf(arena,
					       "it has more than %d entries, and other users can "
					       "change '%s'",
					       MAX_ENTRIES, part->untrusted.items[0]);
		return;
	}
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	vec_each(name, &names)
		vec_push(arena, &part->entries,
			 file_follow(arena, path_join(arena, part->file.real, *name)));
}

// Returns whether other users can write to a path in the root, or to a directory between both.
static bool others_can_write(struct expansion *expansion, const char *path)
{
	const char *root = expansion->found->real;
	const char *parent = path_parent(expansion->arena, path);
	struct stat status;

	for (const char *at = path; path_within(at, root) && !str_equal(at, expansion->checked);
	     at = path_parent(expansion->arena, at))
		if (lstat(at, &status) < 0 || probe_writable_by_others(expansion->facts, &status))
			return true;
	expansion->checked = parent;
	return false;
}

// Returns the known project, this one included, that contains a path or lies in it; NULL: none.
static const char *find_project(const struct expansion *expansion, const char *path)
{
	const struct facts *facts = expansion->facts;

	if (!facts->project_problem && path_overlaps(path, facts->project))
		return facts->project;
	vec_each(root, expansion->projects) {
		if (path_overlaps(path, *root))
			return *root;
	}
	return NULL;
}

// Returns why a part does not come along; NULL: it does.
static const char *part_problem(struct expansion *expansion, const struct followed *file)
{
	struct arena *arena = expansion->arena;
	const struct facts *facts = expansion->facts;
	bool inside = path_within(file->real, expansion->found->real);
	const char *project = find_project(expansion, file->real);
	const char *box = inside ? NULL : probe_writing_box(arena, facts, file);

	if (project)
		return arena_printf(arena, "a box of '%s' can change it or a part of it",
				    quote_display(arena, path_tilde(arena, project, facts->home),
						  120));
	if (box)
		return arena_printf(arena, "%s can change it", box);
	if (inside ? others_can_write(expansion, file->real)
		   : probe_others_can_change(arena, facts, file))
		return "other users can change it";
	return NULL;
}

// Returns whether an earlier pattern has led to the path or to a directory above.
static bool is_known(const struct expansion *expansion, const char *path)
{
	vec_each(part, &expansion->found->parts) {
		if (path_within(path, part->file.path))
			return true;
	}
	return false;
}

// Returns whether a path is one of the links on the way to a file.
static bool is_hop(const struct followed *file, const char *path)
{
	vec_each(hop, &file->hops) {
		if (str_equal(hop->link, path))
			return true;
	}
	return false;
}

// Finds what a part leads to outside of the root. ~/.sdkman/candidates/java/21/bin that leads to
// ~/jdk/bin belongs to the installation ~/jdk. A package of npm is needed as a whole.
static void find_outside(struct expansion *expansion, struct toolchain_part *part)
{
	struct arena *arena = expansion->arena;
	const char *path = part->file.path;
	const char *real = part->file.real;

	if (path_within(real, expansion->found->real))
		return;
	while (!is_hop(&part->file, path) && str_equal(path_name(path), path_name(real)) && *real) {
		path = path_parent(arena, path);
		real = path_parent(arena, real);
	}
	part->outside = real;
	if (part->file.kind == FILE_DIRECTORY &&
	    access(path_join(arena, real, "package.json"), F_OK) < 0)
		part->install = install_examine(arena, real, NULL);
	else
		vec_push(arena, &part->install.paths, real);
}

static void add_part(struct expansion *expansion, const char *path)
{
	struct toolchain_found *found = expansion->found;
	struct arena *arena = expansion->arena;
	struct toolchain_part part = { .file = file_follow(arena, path) };

	if (part.file.kind == FILE_MISSING || part.file.kind == FILE_OTHER ||
	    is_known(expansion, path))
		return;
	// Programs of all kinds are in ~/.local/bin; those of a manager come one by one.
	if (path_overlaps(part.file.real, path_join(arena, expansion->facts->home, ".local/bin")))
		return;
	if (found->parts.count == MAX_PARTS) {
		found->truncated = true;
		return;
	}
	part.problem = part_problem(expansion, &part.file);
	find_outside(expansion, &part);
	if (!part.problem && part.file.kind == FILE_DIRECTORY)
		split_directory(expansion, &part);
	vec_push(arena, &found->parts, part);
}

// Returns the length of the first component of a pattern; a slash in braces does not end it.
static size_t component_length(const char *pattern)
{
	size_t length = 0;
	int depth = 0;

	for (; pattern[length] && (depth || pattern[length] != '/'); length++)
		depth += (pattern[length] == '{') - (pattern[length] == '}');
	return length;
}

// Expands a pattern below a directory. It recurses once for each component.
// NOLINTNEXTLINE(misc-no-recursion)
static void expand(struct expansion *expansion, const char *path, const char *pattern)
{
	struct arena *arena = expansion->arena;
	size_t length = component_length(pattern);
	const char *component = arena_strndup(arena, pattern, length);
	const char *rest = pattern + length + (pattern[length] == '/');

	if (!length) {
		add_part(expansion, path);
	} else if (*component == '{') {
		for (const char *s = component + 1; *s;) {
			size_t part = strcspn(s, ",}");

			expand(expansion, path,
			       arena_printf(arena, "%.*s%s%s", (int)part, s, *rest ? "/" : "",
					    rest));
			s += part + 1;
		}
	} else if (strpbrk(component, "*!")) {
		strings names = matching_names(expansion, path, component);

		vec_each(name, &names)
			expand(expansion, path_join(arena, path, *name), rest);
	} else {
		expand(expansion, path_join(arena, path, component), rest);
	}
}

void toolchain_expand(struct toolchain_found *found, struct arena *arena, struct facts *facts,
		      const strings *projects)
{
	struct expansion expansion = {
		.found = found, .arena = arena, .facts = facts, .projects = projects
	};

	for (const char *const *part = found->row->parts; *part; part++)
		expand(&expansion, found->real, *part);
}
