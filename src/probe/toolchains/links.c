// SPDX-License-Identifier: MIT
// Links in directories of programs and packages that lead elsewhere.
//
// Theory of operation: a link in a directory of the box stays a link, and dangles if its target is
// not in the box. Only directories that are read anyway, directories of packages and those of
// --path are examined, and in each only its own entries: one system call for a link, two more for
// one that leads elsewhere.
#include "probe/toolchains/links.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"
#include "probe/toolchains/recognise.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_LINKS = 8,      // of one directory that are named
	MAX_SCANNED = 1024, // entries of one directory
	MAX_SCOPES = 32,    // directories of scopes
};

const char *link_target(struct arena *arena, int directory, const char *path, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);

	if (length <= 0)
		return NULL;
	target[length] = '\0';
	return path_clean(arena, path_join(arena, path, target));
}

static bool is_of_system(const char *path)
{
	static const char *const system[] = { "/usr", "/bin", "/sbin", "/lib", "/nix/store" };

	for (size_t i = 0; i < ARRAY_SIZE(system); i++)
		if (path_within(path, system[i]))
			return true;
	return false;
}

// Returns the group of a directory's links, a new one if it has none.
static struct outward_links *find_group(struct facts *facts, struct arena *arena,
					const char *directory)
{
	struct toolchains_facts *toolchains = &facts->toolchains;

	vec_each(group, &toolchains->links) {
		if (str_equal(group->directory, directory))
			return group;
	}
	vec_push(arena, &toolchains->links,
		 (struct outward_links){ .directory = arena_strdup(arena, directory) });
	return &toolchains->links.items[toolchains->links.count - 1];
}

void links_add(struct facts *facts, struct arena *arena, int directory, const char *path,
	       const char *name)
{
	const char *target = link_target(arena, directory, path, name);
	const char *link;
	struct outward_links *group;

	if (!target || path_within(target, path) || is_of_system(target) ||
	    toolchain_of(facts, target) < facts->toolchains.found.count || access(target, F_OK) < 0)
		return;
	link = path_join(arena, path, name);
	group = find_group(facts, arena, path);
	vec_each(known, &group->links) {
		if (str_equal(known->link, link))
			return;
	}
	if (group->links.count == MAX_LINKS)
		group->more++;
	else
		vec_push(arena, &group->links, (struct link_hop){ .link = link, .target = target });
}

// Records the links in a directory. Returns the names of the scopes in it, if they are wanted.
static strings read_links(struct facts *facts, struct arena *arena, const char *path, bool scopes)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, path);
	const struct dirent *entry;
	strings names = { 0 };
	int scanned = 0;

	while (directory && (entry = readdir(directory)) && scanned++ < MAX_SCANNED) {
		if (entry->d_type == DT_LNK)
			links_add(facts, arena, dirfd(directory), path, entry->d_name);
		else if (scopes && entry->d_name[0] == '@' && entry->d_type == DT_DIR &&
			 names.count < MAX_SCOPES)
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	}
	return names;
}

void links_read_packages(struct facts *facts, struct arena *arena, const char *path)
{
	strings scopes = read_links(facts, arena, path, true);

	vec_each(scope, &scopes)
		read_links(facts, arena, path_join(arena, path, *scope), false);
}

void links_read_requested(struct facts *facts, struct arena *arena)
{
	vec_each(mount, &facts->mounts) {
		if (mount->on_path && mount->source.kind == FILE_DIRECTORY)
			read_links(facts, arena, mount->source.real, false);
	}
}
