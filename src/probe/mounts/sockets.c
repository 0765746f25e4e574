// SPDX-License-Identifier: MIT
// Finds Unix sockets of the host that mounts would pass into the box.
//
// Theory of operation: a process in the box can connect to every socket that it can name, also on
// a read-only mount and in every network tier, unless the kernel has Landlock's right for it. The
// facts have two sources. /proc/net/unix has every socket of this network namespace with the path
// that it was bound to, at any depth. Sockets of other network namespaces (containers, boxes) and
// those bound to a relative path are found by probe_mounted_files().
#include "probe/mounts/sockets.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/secrets/sockets.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOCKETS = 256, LINE_SIZE = 512 };

static bool is_socket(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

void probe_known_sockets(struct facts *facts, struct arena *arena)
{
	for (size_t i = 0; i < socket_table_count; i++) {
		const struct socket_row *row = &socket_table[i];
		const char *path = socket_row_path(arena, facts, row);
		struct followed place;

		if (!path)
			continue;
		place = file_follow(arena, path);
		// A variable, as also XDG_RUNTIME_DIR, can have any value. A path of the table can
		// appear later.
		if (row->variable ? is_socket(place.real)
				  : access(path_parent(arena, path), F_OK) == 0)
			vec_push(arena, &facts->secrets,
				 (struct secret_place){
					 .path = path,
					 .real = place.real,
					 .socket = true,
					 .what = arena_printf(arena, "socket: %s", row->what) });
	}
}

static bool is_known(const strings *list, const char *path)
{
	vec_each(known, list) {
		if (str_equal(*known, path))
			return true;
	}
	return false;
}

void probe_add_socket(struct facts *facts, struct arena *arena, const char *path)
{
	if (facts->sockets.count < MAX_SOCKETS && !is_known(&facts->sockets, path))
		vec_push(arena, &facts->sockets, path);
}

// Returns whether a path can be in a mount. Other paths are not touched: they can be on a file
// system that does not answer.
static bool can_be_mounted(const struct facts *facts, const char *path)
{
	const struct git_facts *git = &facts->git;

	if (path_within(path, facts->home) || path_within(path, facts->project) ||
	    (git->top && (path_within(path, git->top) || path_within(path, git->common))))
		return true;
	vec_each(mount, &facts->mounts) {
		if (path_within(path, mount->source.real))
			return true;
	}
	return false;
}

void probe_sockets(struct facts *facts, struct arena *arena)
{
	CLEANUP_FILE FILE *list = fopen("/proc/net/unix", "re");
	char line[LINE_SIZE];

	while (list && fgets(line, sizeof(line), list)) {
		// The path is the last field. An abstract name starts with '@'.
		const char *path = strstr(line, " /");

		line[strcspn(line, "\n")] = '\0';
		path = path ? path + 1 : NULL;
		if (path && can_be_mounted(facts, path) && is_socket(path))
			probe_add_socket(facts, arena, arena_strdup(arena, path));
	}
}
