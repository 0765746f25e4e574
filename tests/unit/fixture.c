// SPDX-License-Identifier: MIT
// Worlds for tests: facts of a host in tests/hosts, a configuration, and the plan made of both.
#include "fixture.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/check.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/places.h"
#include "plan/tables.h"

#include <stdarg.h>
#include <stdlib.h>

const struct distribution distributions[] = {
	{ "Debian", world_debian }, { "Fedora", world_fedora },
	{ "Arch", world_arch },     { "Alpine", world_alpine },
	{ "NixOS", world_nixos },   { "Debian, built by Nix", world_nix_build },
};
const size_t distribution_count = ARRAY_SIZE(distributions);

const char *source_path(struct arena *arena, const char *path)
{
	const char *source = getenv("SOURCE");

	return path_join(arena, source ? source : ".", path);
}

void world_read_host(struct world *world, const char *name)
{
	const char *path = arena_printf(&world->arena, "tests/hosts/%s.json", name);

	world_read_facts(world, source_path(&world->arena, path));
}

void world_init(struct world *world)
{
	*world = (struct world){ .facts = { .project_id = { 1, 42 },
					    .git = { .top_id = { 1, 50 },
						     .directory_id = { 1, 51 },
						     .common_id = { 1, 52 } } } };
	world->error.arena = &world->arena;
	for (size_t i = 0; i < secret_table_count; i++) {
		const char *path = path_expand_home(&world->arena, secret_table[i].path, HOME);

		vec_push(&world->arena, &world->facts.secrets,
			 (struct secret_place){ path, path, secret_table[i].what,
						secret_table[i].attack });
	}
}

static void world_on(struct world *world, const char *host)
{
	world_init(world);
	world_read_host(world, host);
}

void world_bare(struct world *world)
{
	world_on(world, "bare");
}

void world_debian(struct world *world)
{
	world_on(world, "debian");
}

void world_fedora(struct world *world)
{
	world_on(world, "fedora");
}

void world_arch(struct world *world)
{
	world_on(world, "arch");
}

void world_alpine(struct world *world)
{
	world_on(world, "alpine");
}

void world_nixos(struct world *world)
{
	world_on(world, "nixos");
}

void world_nix_build(struct world *world)
{
	world_on(world, "debian-nix-build");
}

void world_connect(struct world *world)
{
	world_read_host(world, "laptop-network");
}

struct followed world_followed(struct world *world, enum file_kind kind, const char *path,
			       const char *real, ...)
{
	struct followed file = { .path = path, .real = real, .kind = kind };
	const char *link;
	va_list pairs;

	file.id = (struct file_id){ .device = 1, .inode = 100 + world->facts.files.count };
	va_start(pairs, real);
	while ((link = va_arg(pairs, const char *))) {
		const char *target = va_arg(pairs, const char *);

		vec_push(&world->arena, &file.hops, (struct link_hop){ link, target });
	}
	va_end(pairs);
	return file;
}

void world_variable(struct world *world, const char *assignment)
{
	vec_push(&world->arena, &world->facts.environment, assignment);
}

void world_arguments(struct world *world, const char *const *words)
{
	for (; *words; words++)
		vec_push(&world->arena, &world->config.arguments, *words);
}

void world_user_claude(struct world *world, enum file_kind kind, const char *name)
{
	const char *path = path_join(&world->arena, world->facts.user_claude.directory, name);

	vec_push(&world->arena, &world->facts.user_claude.entries,
		 world_followed(world, kind, path, path, NO_MORE));
}

void world_repository(struct world *world, const char *top, const char *directory,
		      const char *common)
{
	world->facts.git.top = top;
	world->facts.git.directory = directory;
	world->facts.git.common = common;
}

void world_range(struct world *world, const char *interface, const char *range)
{
	struct host_range row = { .interface = interface };

	if (address_parse(range, &row.range))
		vec_push(&world->arena, &world->facts.network.ranges, row);
}

// Every file that a variable of certificates names has certificates alone, unless a test says
// otherwise.
static void examine_certificates(struct world *world)
{
	for (size_t i = 0; i < certificate_table_count; i++) {
		const char *path = facts_variable(&world->facts, certificate_table[i].name);

		if (path && facts_file(&world->facts, path))
			vec_push(&world->arena, &world->facts.certificates,
				 (struct certificate_facts){ .path = path,
							     .origin = certificate_table[i].name });
	}
}

bool world_plan(struct world *world)
{
	examine_certificates(world);
	world->error = (struct error){ .arena = &world->arena };
	return plan_build(&world->plan, &world->arena, &world->config, &world->facts,
			  &world->error) &&
	       plan_check(&world->plan, &world->facts, &world->error);
}

const char *world_data(const struct world *world, const char *path)
{
	vec_each(mount, &world->plan.mounts) {
		if (mount->kind == MOUNT_DATA && str_equal(mount->path, path))
			return mount->source;
	}
	return NULL;
}

void world_free(struct world *world)
{
	arena_free(&world->arena);
}
