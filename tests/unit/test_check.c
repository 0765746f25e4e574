// SPDX-License-Identifier: MIT
// plan_check refuses plans with forbidden mounts, names and settings.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/home/home.h"
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
		{ "/opt/x", "/opt/x", false },        { "/opt/x", "/opt/y/x", false },
		{ "/opt/x", PROJECT "/x", true },     { "/opt/x", PROJECT "/a/b/x", true },
		{ PROJECT "/x", PROJECT "/x", true }, { "/opt/x", "/usr/share/x", true },
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

// Returns the last mount of a plan after a mount was added to it.
static struct plan_mount add_to_home(struct world *world, enum home_mode home,
				     struct plan_mount mount)
{
	world_debian(world);
	world->config.home = home;
	world_plan(world);
	plan_add_mount(&world->plan, &world->arena, mount);
	return world->plan.mounts.items[world->plan.mounts.count - 1];
}

// In the kept home the launcher makes the mount points; bwrap mounts and creates nothing there.
static void test_kept_home(void)
{
	static const enum home_mode modes[] = { HOME_PROJECT, HOME_SHARED, HOME_NONE };
	static const enum mount_kind kinds[] = { MOUNT_READ_ONLY, MOUNT_WRITABLE, MOUNT_EMPTY,
						 MOUNT_DIRECTORY };

	for (size_t i = 0; i < ARRAY_SIZE(modes) * ARRAY_SIZE(kinds); i++) {
		enum home_mode mode = modes[i / ARRAY_SIZE(kinds)];
		enum mount_kind kind = kinds[i % ARRAY_SIZE(kinds)];
		bool kept = mode != HOME_NONE;
		struct world world;
		struct plan_mount added = add_to_home(
			&world, mode,
			(struct plan_mount){ .kind = kind, .source = "/opt/x", .path = HOME "/x" });

		CHECK(added.created == kept);
		CHECK((added.staged != NULL) == (kept && kind != MOUNT_DIRECTORY));
		CHECK(!added.place.inode && !plan_provides(&world.plan, HOME "/y"));
		CHECK(plan_check(&world.plan, &world.facts, &world.error));
		world_free(&world);
	}
}

// A mount point that was not planned by plan_add_mount is refused.
static void test_unsafe_in_home(void)
{
	static const struct {
		struct plan_mount mount;
		const char *what;
	} cases[] = {
		{ { .kind = MOUNT_READ_ONLY, .source = "/opt/x", .path = HOME "/x" },
		  "by bwrap in the kept home" },
		{ { .kind = MOUNT_EMPTY, .path = HOME "/x" }, "a tmpfs by bwrap" },
		{ { .kind = MOUNT_LINK, .source = "y", .path = HOME "/x" }, "a link by bwrap" },
		{ { .kind = MOUNT_DATA, .source = "y\n", .path = HOME "/x" }, "a file by bwrap" },
		{ { .kind = MOUNT_READ_ONLY,
		    .source = "/opt/x",
		    .path = PROJECT "/x",
		    .staged = "/run/user/1000/x",
		    .created = true },
		  "created in the project" },
		{ { .kind = MOUNT_READ_ONLY,
		    .source = "/opt/x",
		    .path = "/usr/x",
		    .staged = "/run/user/1000/x",
		    .created = true },
		  "created outside of the home" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world world;

		world_debian(&world);
		world_plan(&world);
		vec_push(&world.arena, &world.plan.mounts, cases[i].mount);
		CHECK_CASE(!plan_check(&world.plan, &world.facts, &world.error), cases[i].what);
		CHECK_CASE(str_ends(world.error.message, "inside a writable directory"),
			   cases[i].what);
		world_free(&world);
	}
}

// A mount in a tmpfs that is staged is mounted there and moved with it.
static void test_carried(void)
{
	struct world world;
	struct plan_mount tmpfs = add_to_home(
		&world, HOME_PROJECT,
		(struct plan_mount){ .kind = MOUNT_EMPTY, .path = HOME "/tool", .mode = 0700 });
	const struct plan_mount *inner;

	plan_add_mount(&world.plan, &world.arena,
		       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
					    .source = "/opt/x",
					    .path = HOME "/tool/a" });
	inner = &world.plan.mounts.items[world.plan.mounts.count - 1];
	CHECK(inner->carried && !inner->created);
	CHECK_STRING(inner->staged, arena_printf(&world.arena, "%s/a", tmpfs.staged));
	CHECK(plan_check(&world.plan, &world.facts, &world.error));
	world_free(&world);
}

static const struct plan_home_link *find_link(const struct plan *plan, const char *name)
{
	vec_each(link, &plan->state.home_links) {
		if (str_equal(link->name, name))
			return link;
	}
	return NULL;
}

static void test_home_links(void)
{
	struct world world;

	world_debian(&world);
	world.facts.state.home_links = "bin/a\told\nbin/gone\tx\nbroken\n";
	world_plan(&world);
	CHECK_CASE(!find_link(&world.plan, "bin/a")->target, "no longer planned");
	CHECK_STRING(find_link(&world.plan, "bin/gone")->earlier, "x");
	CHECK_STRING(world.plan.state.new_home_links,
		     ".local/bin/claude\t" HOME "/.local/share/claude/versions/2.1.0\n");
	CHECK(!find_link(&world.plan, "broken"));
	world.plan.state.home_links.count = 0;
	plan_add_mount(
		&world.plan, &world.arena,
		(struct plan_mount){ .kind = MOUNT_LINK, .source = "new", .path = HOME "/bin/a" });
	plan_add_home_link(&world.plan, &world.arena, HOME "/bin/a", "second", "x");
	plan_add_home_link(&world.plan, &world.arena, HOME "/b", "c", "x");
	plan_finish_home(&world.plan, &world.arena, &world.facts);
	CHECK_STRING(find_link(&world.plan, "bin/a")->target, "new");
	CHECK_STRING(find_link(&world.plan, "bin/a")->earlier, "old");
	CHECK_STRING(world.plan.state.new_home_links, "bin/a\tnew\nb\tc\n");
	CHECK(plan_provides(&world.plan, HOME "/b") && !plan_provides(&world.plan, HOME "/b/c"));
	world_free(&world);
	world_debian(&world);
	world.config.home = HOME_NONE;
	world_plan(&world);
	plan_add_home_link(&world.plan, &world.arena, HOME "/b", "c", "x");
	CHECK(world.plan.mounts.items[world.plan.mounts.count - 1].kind == MOUNT_LINK);
	CHECK(!world.plan.state.home_links.count && !world.plan.state.new_home_links);
	world_free(&world);
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
	test_kept_home();
	test_unsafe_in_home();
	test_carried();
	test_home_links();
	test_generated_in_project();
	test_plan_kernel();
	test_plan_names();
	arena_free(&arena);
	return check_done();
}
