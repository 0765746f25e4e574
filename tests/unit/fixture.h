// SPDX-License-Identifier: MIT
// Hosts made by hand: what a probe would find on a distribution, without one.
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

// An account with a project, claude and bwrap, but no system yet.
void world_bare(struct world *world);
void world_debian(struct world *world);
void world_fedora(struct world *world);
void world_arch(struct world *world);
void world_alpine(struct world *world);
void world_nixos(struct world *world);
void world_nix_build(struct world *world);

typedef void (*world_maker)(struct world *world);
struct distribution {
	const char *name;
	world_maker make;
};
extern const struct distribution distributions[];
extern const size_t distribution_count;

// Closes a list of arguments: a bare NULL need not be a pointer there.
#define NO_MORE ((const char *)NULL)
// A path and the links on its way, as pairs of link and target, closed by NO_MORE; no pairs: it is where it seems.
struct followed world_followed(struct world *world, enum file_kind kind, const char *path,
			       const char *real, ...) __attribute__((sentinel));
#define world_file(world, kind, path, ...)               \
	vec_push(&(world)->arena, &(world)->facts.files, \
		 world_followed((world), (kind), (path), __VA_ARGS__, NO_MORE))
// An entry of the user's own Claude directory.
void world_user_claude(struct world *world, enum file_kind kind, const char *name);
void world_variable(struct world *world, const char *assignment);
void world_arguments(struct world *world, const char *const *words);
// A repository whose worktree is `top`; the project may be elsewhere in it.
void world_repository(struct world *world, const char *top, const char *directory,
		      const char *common);

// Interfaces, resolvers and the tools of the tier inet; and one more range of an interface.
void world_connect(struct world *world);
void world_range(struct world *world, const char *interface, const char *range);

bool world_plan(struct world *world);
// The made file at this path, or NULL.
const char *world_data(const struct world *world, const char *path);
void world_free(struct world *world);
