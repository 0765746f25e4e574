// SPDX-License-Identifier: MIT
// Finds files that have another name (hard link) outside of the box.
//
// Theory of operation: a write through one name changes the file under all names, and no mount
// option separates them. `git clone /path` links the objects of both repositories; pnpm, bun and uv
// link the files of packages to a store that all projects share. These places are sampled here;
// probe_mounted_files() looks at the other files. The result is a hint and not a guarantee: numbers
// of entries and a timeout keep the start fast.
#include "probe/mounts/hard_links.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/tables.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_SAMPLES = 32,    // entries of one directory
	MAX_DIRECTORIES = 8, // of loose objects, or of packages
	FEW_SAMPLES = 4,     // of each of them
	MAX_SECRETS = 256,   // entries of one secret place
	TIMEOUT_MS = 100,    // for slow file systems
};

struct search {
	struct arena *arena;
	int64_t start;
};

static bool has_time(const struct search *search)
{
	return clock_left_ms(search->start, TIMEOUT_MS) > 0;
}

// Returns whether a file has several names.
static bool is_linked(int directory, const char *name, struct stat *ret_status)
{
	return fstatat(directory, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(ret_status->st_mode) && ret_status->st_nlink > 1;
}

// Returns the path of the first of at most `count` entries of a directory for which `suffix`,
// appended to its name, is a file with several names; NULL: there is none.
static const char *find_linked(struct search *search, const char *path, const char *suffix,
			       int count)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	struct stat status;

	while (directory && (entry = readdir(directory)) && count-- > 0 && has_time(search)) {
		const char *name = arena_printf(search->arena, "%s%s", entry->d_name, suffix);

		if (entry->d_name[0] != '.' && is_linked(dirfd(directory), name, &status))
			return path_join(search->arena, path, name);
	}
	return NULL;
}

// Applies find_linked() to the directory `below` in each directory whose name matches `pattern`.
static const char *find_linked_below(struct search *search, const char *path, const char *pattern,
				     const char *below, const char *suffix, int count)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	const char *found = NULL;
	int left = MAX_DIRECTORIES;

	while (directory && !found && (entry = readdir(directory)) && left-- > 0) {
		if (entry->d_type != DT_REG && fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
			found = find_linked(search,
					    path_clean(search->arena,
						       arena_printf(search->arena, "%s/%s/%s", path,
								    entry->d_name, below)),
					    suffix, count);
	}
	return found;
}

static const char *find_objects(struct search *search, const char *common)
{
	const char *objects = path_join(search->arena, common, "objects");
	const char *found =
		find_linked(search, path_join(search->arena, objects, "pack"), "", MAX_SAMPLES);

	if (!found)
		found = find_linked_below(search, objects, "[0-9a-f][0-9a-f]", ".", "",
					  FEW_SAMPLES);
	return found;
}

static const char *find_modules(struct search *search, const char *project)
{
	const char *modules = path_join(search->arena, project, "node_modules");
	const char *found = find_linked(search, modules, "/package.json", MAX_SAMPLES);

	if (!found)
		found = find_linked_below(search, modules, "@*", ".", "/package.json", MAX_SAMPLES);
	if (!found)
		found = find_linked_below(search, path_join(search->arena, modules, ".pnpm"), "*",
					  "node_modules", "/package.json", FEW_SAMPLES);
	return found;
}

static const char *find_python(struct search *search, const char *project)
{
	static const char *const environments[] = { ".venv/lib", "venv/lib" };
	const char *found = NULL;

	for (size_t i = 0; !found && i < ARRAY_SIZE(environments); i++) {
		const char *library = path_join(search->arena, project, environments[i]);

		found = find_linked_below(search, library, "python*", "site-packages", "/METADATA",
					  MAX_SAMPLES);
		if (!found)
			found = find_linked_below(search, library, "python*", "site-packages", "",
						  MAX_SAMPLES);
	}
	return found;
}

void probe_hard_links(struct facts *facts, struct arena *arena)
{
	struct link_facts *links = &facts->hard_links;
	struct search search = { .arena = arena, .start = clock_monotonic_ms() };

	if (facts->git.top)
		links->objects = find_objects(&search, facts->git.common);
	links->modules = find_modules(&search, facts->project);
	links->python = find_python(&search, facts->project);
}

// Returns the path in a secret place that is another name of the file `id`; NULL: there is none.
static const char *find_name(struct arena *arena, const char *place, const struct file_id *id)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, place);
	const struct dirent *entry;
	struct stat status;
	int count = 0;

	if (!directory)
		return lstat(place, &status) == 0 && status.st_ino == id->inode &&
				       status.st_dev == id->device
			       ? place
			       : NULL;
	while ((entry = readdir(directory)) && count++ < MAX_SECRETS)
		if (entry->d_ino == id->inode &&
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_dev == id->device)
			return path_join(arena, place, entry->d_name);
	return NULL;
}

static void check_passed(struct facts *facts, struct arena *arena, const struct followed *file)
{
	size_t count = facts->secrets.count;
	struct stat status;

	if (!file || file->kind != FILE_REGULAR || !is_linked(AT_FDCWD, file->real, &status))
		return;
	for (size_t i = 0; i < count; i++) {
		struct secret_place secret = facts->secrets.items[i];
		const char *name = secret.socket || path_within(file->real, secret.real)
					   ? NULL
					   : find_name(arena, secret.real, &file->id);

		if (!name)
			continue;
		vec_push(arena, &facts->secrets,
			 (struct secret_place){
				 .path = name, .real = file->real, .what = secret.what });
		return;
	}
}

void probe_linked_secrets(struct facts *facts, struct arena *arena)
{
	vec_each(certificate, &facts->certificates)
		check_passed(facts, arena, facts_file(facts, certificate->path));
	vec_each(mount, &facts->mounts)
		check_passed(facts, arena, &mount->source);
}
