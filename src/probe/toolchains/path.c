// SPDX-License-Identifier: MIT
// Reads the host's PATH: its directories, and the programs in those that a box may lack.
//
// Theory of operation: a directory of the system has thousands of programs, so only the others are
// listed. A watched program that is found there is then looked up in the system's directories, by
// one system call each. No program is executed or opened.
#include "probe/toolchains/path.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "plan/secrets/detect.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "probe/programs.h"
#include "probe/toolchains/installs.h"
#include "probe/toolchains/links.h"
#include "probe/toolchains/recognise.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_ENTRIES = 256,    // of PATH
	MAX_LENGTH = 16384,   // of all of them
	MAX_PROGRAMS = 512,   // of one directory
	MAX_DIRECTORIES = 32, // that are listed
	SHOWN_NAMES = 4,
};

// Returns what makes an entry of PATH unusable; NULL: nothing.
static const char *entry_problem(const char *entry)
{
	if (entry[0] != '/')
		return *entry ? "is relative" : "is empty, which means the working directory";
	if (strlen(entry) >= PATH_MAX)
		return "is too long";
	for (const unsigned char *s = (const unsigned char *)entry; *s; s++)
		if (*s < ' ' || *s == 0x7f)
			return "has control characters";
	return NULL;
}

static bool is_known(const struct facts *facts, const char *written)
{
	vec_each(entry, &facts->toolchains.path) {
		if (str_equal(entry->written, written))
			return true;
	}
	return false;
}

void path_read_entries(struct facts *facts, struct arena *arena)
{
	struct toolchains_facts *toolchains = &facts->toolchains;
	const char *path = facts_variable(facts, "PATH");
	size_t total = 0;

	for (const char *s = path; s && *s;) {
		size_t length = strcspn(s, ":");
		struct path_entry entry = { .written = arena_strndup(arena, s, length) };

		s += length + (s[length] == ':');
		if (is_known(facts, entry.written))
			continue;
		total += length + 1;
		if (toolchains->path.count == MAX_ENTRIES || total > MAX_LENGTH) {
			toolchains->path_ignored++;
			continue;
		}
		entry.problem = entry_problem(entry.written);
		if (!entry.problem)
			entry.directory = file_follow(arena, path_clean(arena, entry.written));
		vec_push(arena, &toolchains->path, entry);
	}
}

// Adds the targets of the links in a directory.
static void add_targets(strings *signs, struct arena *arena, const char *path)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	int count = 0;

	while (directory && (entry = readdir(directory)) && count++ < MAX_PROGRAMS) {
		const char *target = entry->d_type == DT_LNK ? link_target(arena, dirfd(directory),
									   path, entry->d_name)
							     : NULL;

		if (target)
			vec_push(arena, signs, target);
	}
}

// Adds the programs that belong to a manager although they are files of their own in ~/.local/bin:
// such a program is a sign of its first root.
static void add_own_programs(strings *signs, struct arena *arena, const struct facts *facts)
{
	for (size_t i = 0; i < manager_table_count; i++)
		for (const char *const *name = manager_table[i].programs; *name; name++)
			if (access(path_join(arena, facts->toolchains.local_bin, *name), X_OK) == 0)
				for (const char *const *root = manager_table[i].roots; *root;
				     root++)
					if (**root == '~')
						vec_push(arena, signs,
							 path_expand_home(arena, *root,
									  facts->home));
}

strings path_signs(const struct facts *facts, struct arena *arena)
{
	const struct toolchains_facts *toolchains = &facts->toolchains;
	strings signs = { 0 };

	vec_each(entry, &toolchains->path) {
		if (entry->problem || entry->directory.kind != FILE_DIRECTORY)
			continue;
		vec_push(arena, &signs, entry->directory.path);
		if (!str_equal(entry->directory.real, entry->directory.path))
			vec_push(arena, &signs, entry->directory.real);
		if (str_equal(entry->directory.real, "/usr/local/bin"))
			add_targets(&signs, arena, entry->directory.real);
	}
	if (toolchains->local_bin) {
		add_targets(&signs, arena, toolchains->local_bin);
		add_own_programs(&signs, arena, facts);
	}
	return signs;
}

// Returns the manager whose own program has this name; NULL: none of the set `wanted`.
static const char *find_owner(const char *name, unsigned int wanted)
{
	for (size_t i = 0; i < manager_table_count; i++)
		for (const char *const *own = manager_table[i].programs; *own; own++)
			if (str_equal(*own, name) &&
			    (wanted & TOOLCHAIN_BIT(manager_table[i].toolchain)))
				return toolchain_names[manager_table[i].toolchain];
	return NULL;
}

// Returns whether a file lies in a part that comes along.
static bool is_in_part(const struct toolchain_part *part, const char *path)
{
	if (!part->split)
		return path_within(path, part->file.real);
	vec_each(entry, &part->entries) {
		if (path_within(path, entry->real))
			return true;
	}
	return false;
}

static bool is_in_toolchain(const struct facts *facts, const char *path)
{
	vec_each(found, &facts->toolchains.found) {
		if (found->problem)
			continue;
		vec_each(part, &found->parts) {
			if (!part->problem && (part->outside || path_within(path, found->real)) &&
			    is_in_part(part, path))
				return true;
		}
	}
	return false;
}

// Returns whether a file is a program that only the user and root can change, and lies in no place
// of secrets, of Claude or of claudebox.
static bool is_trusted(const struct facts *facts, struct arena *arena, const struct followed *file)
{
	const char *const never[] = { facts->state.root, facts->user_claude.directory,
				      facts->user_claude.real,
				      path_join(arena, facts->home, ".claude") };

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (never[i] && path_within(file->real, never[i]))
			return false;
	return file->kind == FILE_REGULAR && access(file->real, X_OK) == 0 &&
	       !plan_near_secret(facts, file->real) && !probe_writing_box(arena, facts, file) &&
	       !probe_others_can_change(arena, facts, file);
}

static int compare_programs(const void *a, const void *b)
{
	return strcmp(((const struct local_program *)a)->name,
		      ((const struct local_program *)b)->name);
}

void path_read_local(struct facts *facts, struct arena *arena, unsigned int wanted)
{
	struct toolchains_facts *toolchains = &facts->toolchains;
	CLEANUP_DIR DIR *directory =
		toolchains->local_bin ? open_directory_stream(AT_FDCWD, toolchains->local_bin)
				      : NULL;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) &&
	       toolchains->local_programs.count < MAX_PROGRAMS) {
		struct local_program program = { .name = arena_strdup(arena, entry->d_name) };

		if (program.name[0] == '.' || entry->d_type == DT_DIR ||
		    secret_file_name(program.name))
			continue;
		program.file =
			file_follow(arena, path_join(arena, toolchains->local_bin, program.name));
		program.belongs = is_in_toolchain(facts, program.file.real);
		program.owner = program.belongs ? NULL : find_owner(program.name, wanted);
		program.belongs = (program.belongs || program.owner) &&
				  is_trusted(facts, arena, &program.file);
		vec_push(arena, &toolchains->local_programs, program);
	}
	if (toolchains->local_programs.count)
		qsort(toolchains->local_programs.items, toolchains->local_programs.count,
		      sizeof(*toolchains->local_programs.items), compare_programs);
}

static bool is_of_system(const char *path)
{
	static const char *const system[] = { "/usr", "/bin", "/sbin", "/nix/store" };

	for (size_t i = 0; i < ARRAY_SIZE(system); i++)
		if (path_within(path, system[i]))
			return true;
	return false;
}

static uint64_t watched_bit(const char *name)
{
	for (size_t i = 0; i < watched_program_count; i++)
		if (str_equal(watched_programs[i], name))
			return 1ULL << i;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Lists the programs of a directory that is not the system's.
static void list_programs(struct path_entry *entry, struct arena *arena, struct facts *facts)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, entry->directory.real);
	bool comes = toolchain_of(facts, entry->directory.real) < facts->toolchains.found.count;
	const struct dirent *program;
	strings names = { 0 };

	while (directory && (program = readdir(directory)) && names.count < MAX_PROGRAMS) {
		if (program->d_name[0] == '.' || program->d_type == DT_DIR)
			continue;
		entry->watched |= watched_bit(program->d_name);
		if (comes && program->d_type == DT_LNK)
			links_add(facts, arena, dirfd(directory), entry->directory.real,
				  program->d_name);
		vec_push(arena, &names, arena_strdup(arena, program->d_name));
	}
	entry->programs = names.count;
	if (!names.count)
		return;
	qsort(names.items, names.count, sizeof(*names.items), compare_names);
	for (size_t i = 0; i < names.count && i < SHOWN_NAMES; i++)
		vec_push(arena, &entry->names, names.items[i]);
}

// Returns the installation around a "bin" whose programs need the files beside it, or the manager
// that the directory belongs to. Without paths: it is none.
static struct install find_install(struct facts *facts, struct arena *arena,
				   const struct followed *directory)
{
	static const char *const siblings[] = { "lib", "pyvenv.cfg" };
	const char *root = path_parent(arena, directory->real);
	const struct manager_row *row = toolchain_row_of(facts, arena, directory->path, false);
	struct install install = { .row = row };

	if (str_equal(path_name(directory->real), "bin") && !path_within(facts->home, root))
		for (size_t i = 0; i < ARRAY_SIZE(siblings); i++)
			if (access(path_join(arena, root, siblings[i]), F_OK) == 0)
				return install_examine(arena, root, row);
	return install;
}

// Looks up watched programs in a directory of the system.
static void look_up(struct path_entry *entry, struct arena *arena, uint64_t wanted)
{
	for (size_t i = 0; i < watched_program_count; i++)
		if ((wanted >> i & 1) &&
		    access(path_join(arena, entry->directory.real, watched_programs[i]), X_OK) == 0)
			entry->watched |= 1ULL << i;
}

void path_count_programs(struct facts *facts, struct arena *arena)
{
	struct toolchains_facts *toolchains = &facts->toolchains;
	int listed = 0;
	uint64_t found = 0;

	vec_each(entry, &toolchains->path) {
		if (entry->directory.kind != FILE_DIRECTORY ||
		    is_of_system(entry->directory.real) || listed++ >= MAX_DIRECTORIES)
			continue;
		list_programs(entry, arena, facts);
		if (toolchain_of(facts, entry->directory.real) == toolchains->found.count)
			entry->install = find_install(facts, arena, &entry->directory);
		found |= entry->watched;
	}
	vec_each(entry, &toolchains->path) {
		if (found && entry->directory.kind == FILE_DIRECTORY &&
		    is_of_system(entry->directory.real))
			look_up(entry, arena, found);
	}
}
