// SPDX-License-Identifier: MIT
// Worlds for tests: facts as a probe would find them on a distribution, a configuration, a plan.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

#define HOME    "/home/user"
#define PROJECT HOME "/project"

struct world {
	struct arena arena;
	struct facts facts;
	struct config config;
	struct plan plan;
	struct error error;
};

// Returns a path of the source tree: below $SOURCE, or the working directory.
const char *source_path(struct arena *arena, const char *path);

// Initialises a world without facts of a host, except for the places of secrets and file ids.
void world_init(struct world *world);
// Reads tests/hosts/NAME.json, or a file like it, on top of the facts that are there. A mistake in
// such a file ends the test.
void world_read_host(struct world *world, const char *name);
void world_read_facts(struct world *world, const char *path);

// An account with a project, claude and bwrap, but no system yet.
void world_bare(struct world *world);
void world_debian(struct world *world);
void world_fedora(struct world *world);
void world_arch(struct world *world);
void world_alpine(struct world *world);
void world_nixos(struct world *world);
// Debian; claudebox was built by Nix.
void world_nix_build(struct world *world);
// Adds interfaces, resolvers and the programs of the tier inet.
void world_connect(struct world *world);

typedef void (*world_maker)(struct world *world);
struct distribution {
	const char *name;
	world_maker make;
};
extern const struct distribution distributions[];
extern const size_t distribution_count;

// Ends a list of arguments: a bare NULL need not be a pointer there.
#define NO_MORE ((const char *)NULL)
// Returns a path with the links on its way, given as pairs of link and target and ended by NO_MORE.
struct followed world_followed(struct world *world, enum file_kind kind, const char *path,
			       const char *real, ...) __attribute__((sentinel));
#define world_file(world, kind, path, ...)               \
	vec_push(&(world)->arena, &(world)->facts.files, \
		 world_followed((world), (kind), (path), __VA_ARGS__, NO_MORE))
// Adds an entry of the user's own Claude directory.
void world_user_claude(struct world *world, enum file_kind kind, const char *name);
void world_variable(struct world *world, const char *assignment);
void world_arguments(struct world *world, const char *const *words);
// Sets the repository whose worktree is `top`; the project may be elsewhere in it.
void world_repository(struct world *world, const char *top, const char *directory,
		      const char *common);
// Adds an address or network of an interface.
void world_range(struct world *world, const char *interface, const char *range);

// Builds and checks the plan; false leaves world->error.
bool world_plan(struct world *world);
// Returns the content of the generated file at this path, or NULL.
const char *world_data(const struct world *world, const char *path);
void world_free(struct world *world);
