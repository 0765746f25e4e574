// SPDX-License-Identifier: MIT
// plan_check refuses plans with forbidden mounts, names and settings.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "seccomp/programs.h"

static struct arena arena;

static const char *check_with(struct plan_mount mount)
{
	struct world world;
	const char *text;

	world_debian(&world);
	world_plan(&world);
	plan_add_mount(&world.plan, &world.arena, mount);
	text = plan_check(&world.plan, &world.facts, &world.error)
		       ? "ok"
		       : arena_strdup(&arena, world.error.message);
	world_free(&world);
	return text;
}

static const char *check_host_path(const char *source, const char *path)
{
	const char *read_only = check_with(
		(struct plan_mount){ .kind = MOUNT_READ_ONLY, .source = source, .path = path });
	const char *writable = check_with(
		(struct plan_mount){ .kind = MOUNT_WRITABLE, .source = source, .path = path });

	return str_equal(read_only, writable) ? read_only : "depends on the kind";
}

static void test_plan_mounts(void)
{
	CHECK_STRING(check_host_path("/opt/x", "/opt/x"), "ok");
	CHECK_STRING(check_host_path(HOME "/.ssh", "/x"),
		     "plan mounts secret path '/home/user/.ssh'");
	CHECK_STRING(check_host_path(HOME "/.ssh/id_rsa", "/x"),
		     "plan mounts secret path '/home/user/.ssh/id_rsa'");
	CHECK_STRING(check_host_path(HOME "/.config", "/x"),
		     "plan mounts secret path '/home/user/.config'");
	CHECK_STRING(check_host_path("/etc", "/x"), "plan mounts secret path '/etc'");
	CHECK_STRING(check_host_path("/var/lib/tailscale", "/x"),
		     "plan mounts secret path '/var/lib/tailscale'");
	CHECK_STRING(check_host_path("/opt/x", PROJECT "/x"),
		     "plan mounts '/home/user/project/x' inside a writable directory");
	CHECK_STRING(check_host_path("/opt/x", HOME "/.claude/x"),
		     "plan mounts '/home/user/.claude/x' inside a writable directory");
	CHECK_CASE_STRING(check_host_path(PROJECT "/x", PROJECT "/x"),
			  "plan mounts '/home/user/project/x' inside a writable directory",
			  "a part of the project that was not checked");
}

// A mount below a directory where a box may have created a link is staged.
static void test_staged(void)
{
	static const struct {
		const char *source;
		const char *path;
		bool staged;
	} cases[] = {
		{ "/opt/x", "/opt/x", false },
		{ "/opt/x", HOME "/x", false }, // the box's own empty home directory
		{ "/opt/x", PROJECT "x", false },
		{ "/opt/x", PROJECT "/x", true },
		{ "/opt/x", PROJECT "/a/b/x", true },
		{ PROJECT "/x", PROJECT "/x", true },
		{ "/opt/x", "/usr/share/x", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_mount mount = { .kind = MOUNT_READ_ONLY,
					    .source = cases[i].source,
					    .path = cases[i].path,
					    .id = { 1, 7 },
					    .place = { 1, 8 } };
		bool itself = str_equal(mount.source, mount.path);
		struct world world;
		const struct plan_mount *added;

		world_debian(&world);
		world_plan(&world);
		plan_add_mount(&world.plan, &world.arena, mount);
		added = &world.plan.mounts.items[world.plan.mounts.count - 1];
		CHECK_CASE(cases[i].staged == (added->staged != NULL), cases[i].path);
		CHECK_CASE(!added->staged || path_within(added->staged, "/run/user/1000"),
			   cases[i].path);
		CHECK_CASE(!added->staged || added->place.inode == (itself ? 7 : 8), cases[i].path);
		CHECK_CASE(plan_check(&world.plan, &world.facts, &world.error), cases[i].path);
		world_free(&world);
	}
}

static void test_home_mount(void)
{
	struct world world;

	world_debian(&world);
	world_plan(&world);
	world.facts.secrets.count = 0;
	plan_add_mount(
		&world.plan, &world.arena,
		(struct plan_mount){ .kind = MOUNT_READ_ONLY, .source = "/home", .path = "/x" });
	CHECK(!plan_check(&world.plan, &world.facts, &world.error));
	CHECK_STRING(world.error.message, "plan mounts secret path '/home'");
	world_free(&world);
}

// bwrap would create these in the user's own directory.
static void test_generated_in_project(void)
{
	static const enum mount_kind kinds[] = { MOUNT_DATA, MOUNT_LINK, MOUNT_DIRECTORY,
						 MOUNT_EMPTY };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		CHECK_CASE_STRING(check_with((struct plan_mount){ .kind = kinds[i],
								  .source = "x\n",
								  .path = PROJECT "/x" }),
				  "plan mounts '/home/user/project/x' inside a writable directory",
				  "no file is created in the project");
}

static void test_plan_kernel(void)
{
	struct world world;

	world_debian(&world);
	world.facts.bwrap_disables_userns = false;
	CHECK(!world_plan(&world));
	CHECK_STRING(world.error.message,
		     "this bwrap cannot disable user namespaces in a box (--disable-userns)");
	world.config.nested = true;
	world.config.nested_origin = origin_requested("profile x");
	CHECK_CASE(world_plan(&world), "a nested box needs no --disable-userns");
	CHECK(world.plan.seccomp == SECCOMP_NESTED);
	world_free(&world);
	world_debian(&world);
	world.facts.uid = 0;
	world.config.nested = true;
	world.config.nested_origin = origin_requested("profile x");
	CHECK(!world_plan(&world));
	CHECK_CASE(str_starts(world.error.message, "'nested' (profile x) is refused for root"),
		   "root gets no nested box");
	world_free(&world);
}

static void test_plan_names(void)
{
	static const char *const names[] = { "", "A B", "A=B", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct world world;

		world_debian(&world);
		world_plan(&world);
		vec_push(&world.arena, &world.plan.variables,
			 (struct plan_variable){ .name = names[i], .value = "" });
		CHECK_CASE(!plan_check(&world.plan, &world.facts, &world.error),
			   "a variable without a proper name");
		world_free(&world);
	}
}

int main(void)
{
	test_plan_mounts();
	test_staged();
	test_home_mount();
	test_generated_in_project();
	test_plan_kernel();
	test_plan_names();
	arena_free(&arena);
	return check_done();
}
