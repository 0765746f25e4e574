// SPDX-License-Identifier: MIT
// Finds programs in the Nix store: in directories that were compiled in, or else on the user's
// PATH.
#include "probe/nix/store.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/tables.h"
#include "sys/files.h"

#include <string.h>
#include <unistd.h>

// Adds the directories of a list like PATH that are in the store. With `follow`, links are resolved
// first: entries of the user's PATH may be links. Compiled-in directories are store paths already.
static void add_directories(struct facts *facts, struct arena *arena, const char *path, bool follow)
{
	for (const char *s = path; *s;) {
		size_t length = strcspn(s, ":");
		const char *directory = arena_strndup(arena, s, length);

		if (follow && directory[0] == '/') {
			struct followed followed = file_follow(arena, directory);

			directory = followed.kind == FILE_DIRECTORY ? followed.real : "";
		}
		if (path_within(directory, NIX_STORE))
			vec_push(arena, &facts->store.path, directory);
		s += length + (s[length] == ':');
	}
}

const char *probe_store_program(struct arena *arena, const struct facts *facts, const char *name)
{
	vec_each(directory, &facts->store.path) {
		const char *program = path_join(arena, *directory, name);

		if (access(program, X_OK) == 0)
			return program;
	}
	return NULL;
}

// Returns the target for a link in the box: a program of facts->store, the compiled-in loader, or
// the store path that the host's own file leads to (on NixOS it is a link); NULL if there is none.
static const char *link_target(struct arena *arena, const struct facts *facts,
			       const struct store_link *link)
{
	const char *program = link->program ? probe_store_program(arena, facts, link->program)
					    : BOX_LOADER;
	struct followed file;

	if (program && *program)
		return program;
	file = file_follow(arena, link->path);
	return file.kind == FILE_REGULAR && path_within(file.real, NIX_STORE) ? file.real : NULL;
}

void probe_store(struct facts *facts, struct arena *arena)
{
	const char *path = facts_variable(facts, "PATH");
	struct store_facts *store = &facts->store;

	store->only = *BOX_PATH || facts_file(facts, "/etc/NIXOS");
	if (!facts_file(facts, NIX_STORE))
		return;
	add_directories(facts, arena, *BOX_PATH ? BOX_PATH : path ? path : "", !*BOX_PATH);
	if (!store->only)
		return;
	if (access(BOX_CERTIFICATES, R_OK) == 0)
		store->certificates = BOX_CERTIFICATES;
	for (size_t i = 0; i < store_link_count; i++) {
		const char *target = link_target(arena, facts, &store_links[i]);

		if (target)
			vec_push(arena, &store->links,
				 (struct link_hop){ .link = store_links[i].path,
						    .target = target });
	}
}
