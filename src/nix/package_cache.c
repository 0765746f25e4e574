// SPDX-License-Identifier: MIT
// Remembers what nix answered, keeps it from being collected, and forgets what nobody has asked for in a month.
//
// Theory of operation: a request (reference, names) has one file and its links, named by its digest; a new answer replaces
// the old one. The file holds only as long as the registry and nix's settings are the same files as then (the stamp) and
// every path is still in the store, so looking costs a few stats.
#include "nix/package_cache.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "nix/packages.h"
#include "plan/facts.h"
#include "plan/nix/package_cache.h"
#include "plan/nix/packages.h"
#include "probe/nix/client.h"
#include "state/instance.h"
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

enum { CACHE_LIMIT = 1024 * 1024, DAY = 24 * 60 * 60, UNUSED_DAYS = 30 };

static void add_stamp(struct text *stamp, const char *path)
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

// What decides what a reference stands for.
static const char *make_stamp(struct arena *arena, const struct facts *facts)
{
	const char *own = path_join(arena, probe_nix_configuration(arena, facts), "nix");
	struct text stamp = { .arena = arena };

	add_stamp(&stamp, "/etc/nix/nix.conf");
	add_stamp(&stamp, "/etc/nix/registry.json");
	add_stamp(&stamp, "/etc/xdg/nix/nix.conf");
	add_stamp(&stamp, path_join(arena, own, "nix.conf"));
	add_stamp(&stamp, path_join(arena, own, "registry.json"));
	return text_get(&stamp);
}

struct package_cache package_cache_find(struct arena *arena, const struct config *config,
					const struct facts *facts)
{
	struct package_cache memory = { .root = facts->state.root };
	struct package_request *request = &memory.request;
	struct utsname machine;

	request->reference = config->nixpkgs ? config->nixpkgs : "nixpkgs";
	request->system = uname(&machine) == 0 ? arena_strdup(arena, machine.machine) : "";
	request->stamp = make_stamp(arena, facts);
	vec_each(package, &config->packages)
		vec_push(arena, &request->names, package->name);
	memory.key = packages_key(arena, request);
	memory.links = arena_printf(arena, "%s/" ROOTS_DIRECTORY "/%s", memory.root, memory.key);
	return memory;
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

// So that it is not forgotten; once a day is enough.
static void mark_used(const char *path, time_t now)
{
	struct stat status;

	if (lstat(path, &status) == 0 && now - status.st_mtime > DAY)
		utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

bool package_cache_load(const struct package_cache *memory, struct arena *arena,
			struct package_answer *ret_answer)
{
	const char *path =
		arena_printf(arena, "%s/" PACKAGES_DIRECTORY "/%s.json", memory->root, memory->key);
	const char *text = file_read(arena, path, CACHE_LIMIT, 0);
	time_t now = time(NULL);
	struct package_answer answer = { 0 };

	if (!text || !packages_read_cache(arena, text, &memory->request, now, &answer) ||
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

static int open_part(const struct package_cache *memory, const char *name, struct error *error)
{
	CLEANUP_FD int root = state_open_root(memory->root, error);

	return root < 0 ? -1
			: open_directory(root, name, path_join(error->arena, memory->root, name),
					 error);
}

bool package_cache_prepare_links(const struct package_cache *memory, struct error *error)
{
	CLEANUP_FD int links = open_part(memory, ROOTS_DIRECTORY, error);

	return links >= 0;
}

static bool is_old(int directory, const char *name, time_t now)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	       now - status.st_mtime > (time_t)UNUSED_DAYS * DAY;
}

// A link of ours that keeps nothing that is wanted: of an earlier answer, or of a request that nobody makes any more.
static bool is_stale(const struct package_cache *memory, struct arena *arena, int links, int files,
		     const char *name, const struct package_answer *answer)
{
	size_t digits = strlen(memory->key);
	const char *key = arena_strndup(arena, name, strnlen(name, digits));
	char target[PATH_MAX];
	ssize_t length;

	if (!str_equal(key, memory->key))
		return is_old(links, name, time(NULL)) &&
		       is_old(files, file_name(arena, key), time(NULL));
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

static void tidy(const struct package_cache *memory, struct arena *arena, int links, int files,
		 const struct package_answer *answer)
{
	CLEANUP_FD int copy = openat(links, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int other = openat(files, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_DIR DIR *all_links = copy < 0 ? NULL : fdopendir(copy);
	CLEANUP_DIR DIR *all_files = other < 0 ? NULL : fdopendir(other);
	struct dirent *entry;

	if (!all_links || !all_files)
		return;
	take_fd(&copy);
	take_fd(&other);
	while ((entry = readdir(all_links))) {
		if (entry->d_type == DT_LNK &&
		    is_stale(memory, arena, links, files, entry->d_name, answer))
			unlinkat(links, entry->d_name, 0);
	}
	while ((entry = readdir(all_files))) {
		if (entry->d_type == DT_REG && is_old(files, entry->d_name, time(NULL)))
			unlinkat(files, entry->d_name, 0);
	}
}

bool package_cache_store(const struct package_cache *memory, struct arena *arena,
			 const struct package_answer *answer, enum reference_kind kind,
			 struct error *error)
{
	CLEANUP_FD int links = open_part(memory, ROOTS_DIRECTORY, error);
	CLEANUP_FD int files = links < 0 ? -1 : open_part(memory, PACKAGES_DIRECTORY, error);
	const char *name = file_name(arena, memory->key);

	if (files < 0)
		return false;
	if (kind == REFERENCE_LOCAL)
		unlinkat(files, name, 0);
	else if (!replace_file(files, name,
			       packages_write_cache(arena, &memory->request, answer, kind,
						    time(NULL)),
			       error))
		return false;
	tidy(memory, arena, links, files, answer);
	return true;
}
