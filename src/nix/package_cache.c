// SPDX-License-Identifier: MIT
// The cache of resolved packages: one file for each request, and links that keep the store paths
// from garbage collection.
//
// Theory of operation: a request (reference, system, names) has one file and some links, whose
// names begin with the request's digest. A new answer replaces the old one. An entry is valid while
// the registry and nix's settings are the same files as before (the stamp) and every path is still
// in the store, so a lookup costs a few calls of stat. Entries that have not been used for
// UNUSED_DAYS are removed when another entry is stored.
#include "nix/package_cache.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/package_cache.h"
#include "plan/nix/packages.h"
#include "probe/user.h"
#include "state/prepare.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

enum { CACHE_FILE_MAX = 1024 * 1024, DAY = 24 * 60 * 60, UNUSED_DAYS = 30 };

static void add_file_stamp(struct text *stamp, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		text_printf(stamp, "%lx:%lx:%lx:%lx.%lx ", (unsigned long)status.st_dev,
			    (unsigned long)status.st_ino, (unsigned long)status.st_size,
			    (unsigned long)status.st_ctim.tv_sec,
			    (unsigned long)status.st_ctim.tv_nsec);
	else
		text_add(stamp, "- ");
}

// Returns a stamp of the files that determine the meaning of a reference.
static const char *build_stamp(struct arena *arena, const struct facts *facts)
{
	const char *own = path_join(arena, probe_config_home(arena, facts), "nix");
	struct text stamp = { .arena = arena };

	add_file_stamp(&stamp, "/etc/nix/nix.conf");
	add_file_stamp(&stamp, "/etc/nix/registry.json");
	add_file_stamp(&stamp, "/etc/xdg/nix/nix.conf");
	add_file_stamp(&stamp, path_join(arena, own, "nix.conf"));
	add_file_stamp(&stamp, path_join(arena, own, "registry.json"));
	return text_get(&stamp);
}

struct package_cache package_cache_find(struct arena *arena, const struct config *config,
					const struct facts *facts)
{
	struct package_cache cache = { .root = facts->state.root };
	struct package_request *request = &cache.request;
	struct utsname machine;

	request->reference = config->nixpkgs ? config->nixpkgs : "nixpkgs";
	request->system = uname(&machine) == 0 ? arena_strdup(arena, machine.machine) : "";
	request->stamp = build_stamp(arena, facts);
	vec_each(package, &config->packages)
		vec_push(arena, &request->names, package->name);
	cache.key = packages_key(arena, request);
	cache.links = arena_printf(arena, "%s/" ROOTS_DIRECTORY "/%s", cache.root, cache.key);
	return cache;
}

bool packages_has_programs(struct arena *arena, const char *path)
{
	struct stat status;

	return stat(path_join(arena, path, "bin"), &status) == 0 && S_ISDIR(status.st_mode);
}

static const char *file_name(struct arena *arena, const char *key)
{
	return arena_printf(arena, "%s.json", key);
}

// Updates the file's time at most once a day, for is_unused.
static void mark_used(const char *path, time_t now)
{
	struct stat status;

	if (lstat(path, &status) == 0 && now - status.st_mtime > DAY)
		utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

bool package_cache_load(const struct package_cache *cache, struct arena *arena,
			struct package_answer *ret_answer)
{
	const char *path =
		arena_printf(arena, "%s/" PACKAGES_DIRECTORY "/%s.json", cache->root, cache->key);
	const char *text = file_read(arena, path, CACHE_FILE_MAX, 0);
	time_t now = time(NULL);
	struct package_answer answer = { 0 };

	if (!text || !packages_parse_cache(arena, text, &cache->request, now, &answer) ||
	    (answer.nixpkgs && access(answer.nixpkgs, F_OK) < 0))
		return false;
	vec_each(row, &answer.rows) {
		if (row->bin ? !packages_has_programs(arena, row->path)
			     : access(row->path, F_OK) < 0)
			return false;
	}
	mark_used(path, now);
	*ret_answer = answer;
	return true;
}

// Opens a directory below ~/.claudebox, and creates it if it is missing. Returns -1 with an error.
static int open_subdirectory(const struct package_cache *cache, const char *name,
			     struct error *error)
{
	CLEANUP_FD int root = state_open_root(cache->root, error);

	return root < 0 ? -1
			: open_directory(root, name, path_join(error->arena, cache->root, name),
					 error);
}

bool package_cache_prepare_links(const struct package_cache *cache, struct error *error)
{
	CLEANUP_FD int links = open_subdirectory(cache, ROOTS_DIRECTORY, error);

	return links >= 0;
}

// Returns whether the entry has not been used for UNUSED_DAYS, or is missing.
static bool is_unused(int directory, const char *name, time_t now)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	       now - status.st_mtime > (time_t)UNUSED_DAYS * DAY;
}

// Returns whether a link can be removed: it belongs to an earlier answer of this request, or to
// another request that has not been used for UNUSED_DAYS.
static bool is_stale_link(const struct package_cache *cache, struct arena *arena, int links,
			  int files, const char *name, const struct package_answer *answer)
{
	size_t digits = strlen(cache->key);
	const char *key = arena_strndup(arena, name, strnlen(name, digits));
	char target[PATH_MAX];
	ssize_t length;

	if (!str_equal(key, cache->key))
		return is_unused(links, name, time(NULL)) &&
		       is_unused(files, file_name(arena, key), time(NULL));
	length = readlinkat(links, name, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	if (str_equal(answer->nixpkgs, target))
		return false;
	vec_each(row, &answer->rows) {
		if (str_equal(row->path, target))
			return false;
	}
	return true;
}

// Removes stale links and unused files.
static void remove_stale(const struct package_cache *cache, struct arena *arena, int links,
			 int files, const struct package_answer *answer)
{
	CLEANUP_FD int links_copy = openat(links, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int files_copy = openat(files, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_DIR DIR *all_links = links_copy < 0 ? NULL : fdopendir(links_copy);
	CLEANUP_DIR DIR *all_files = files_copy < 0 ? NULL : fdopendir(files_copy);
	struct dirent *entry;

	if (!all_links || !all_files)
		return;
	take_fd(&links_copy);
	take_fd(&files_copy);
	while ((entry = readdir(all_links))) {
		if (entry->d_type == DT_LNK &&
		    is_stale_link(cache, arena, links, files, entry->d_name, answer))
			unlinkat(links, entry->d_name, 0);
	}
	while ((entry = readdir(all_files))) {
		if (entry->d_type == DT_REG && is_unused(files, entry->d_name, time(NULL)))
			unlinkat(files, entry->d_name, 0);
	}
}

bool package_cache_store(const struct package_cache *cache, struct arena *arena,
			 const struct package_answer *answer, enum reference_kind kind,
			 struct error *error)
{
	CLEANUP_FD int links = open_subdirectory(cache, ROOTS_DIRECTORY, error);
	CLEANUP_FD int files = links < 0 ? -1 : open_subdirectory(cache, PACKAGES_DIRECTORY, error);
	const char *name = file_name(arena, cache->key);

	if (files < 0)
		return false;
	if (kind == REFERENCE_LOCAL)
		unlinkat(files, name, 0);
	else if (!replace_file(files, name,
			       packages_render_cache(arena, &cache->request, answer, kind,
						     time(NULL)),
			       error))
		return false;
	remove_stale(cache, arena, links, files, answer);
	return true;
}
