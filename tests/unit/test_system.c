// SPDX-License-Identifier: MIT
// System files in the box: generated ones contain no secrets, mounted ones exist on the host.
#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/screen.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/audit/audit.h"
#include "render/dry_run.h"

#include <string.h>

// nix.conf is copied into the box without lines that hold a secret.
static void test_nix_configuration_without_secrets(void)
{
	struct world world;
	const char *text;

	world_nixos(&world);
	world.facts.nix_conf_text = "cores = 2\n"
				    " access-tokens = github.com=abc\n"
				    "extra-access-tokens=gitlab.com=abc\n"
				    "access-tokens\t= x\n"
				    "netrc-file = /etc/nix/netrc\n"
				    "!include /etc/nix/secrets.conf\n"
				    "include other.conf\n"
				    "secret-key-files = /k\n"
				    "trusted-substituters = https://user:word@cache.example\n"
				    "sandbox = true";
	world_plan(&world);
	text = world_data(&world, "/etc/nix/nix.conf");
	CHECK_STRING(text, "cores = 2\nsandbox = true\n"
			   "extra-experimental-features = nix-command flakes\n");
	world_free(&world);
}

// A certificate bundle below ~/.claude is hidden by the box's own ~/.claude.
static void test_covered_certificates(void)
{
	struct world world;

	world_debian(&world);
	world_variable(&world, "SSL_CERT_FILE=" HOME "/.claude/ca.pem");
	world_file(&world, FILE_REGULAR, HOME "/.claude/ca.pem", HOME "/.claude/ca.pem");
	CHECK(world_plan(&world));
	CHECK_STRING(plan_variable(&world.plan, "SSL_CERT_FILE"),
		     "/etc/ssl/certs/ca-certificates.crt");
	world_free(&world);
}

// A box with programs of the store has none of the host's, and no link of the host hides one
// into the store.
static void test_store_only(void)
{
	struct world world;
	bool loader = false;

	world_nix_build(&world);
	// A claude of the distribution, in a directory that is a link on the host and missing in
	// the box.
	vec_push(&world.arena, &world.facts.agent.needs,
		 world_followed(&world, FILE_REGULAR, "/bin/claude", "/usr/bin/claude", "/bin",
				"usr/bin", NO_MORE));
	CHECK(world_plan(&world));
	vec_each(mount, &world.plan.mounts) {
		static const char *const gone[] = { "/usr",
						    "/bin",
						    "/sbin",
						    "/lib",
						    "/lib64",
						    "/usr/bin",
						    "/etc/alternatives",
						    "/etc/ld.so.cache" };

		for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
			CHECK_CASE(strcmp(mount->path, gone[i]) != 0, gone[i]);
		loader |= mount->kind == MOUNT_LINK && strstr(mount->path, "/ld-linux") &&
			  path_within(mount->source, "/nix/store");
	}
	CHECK(loader);
	CHECK(plan_provides(&world.plan, "/usr/bin/claude"));
	CHECK_STRING(plan_variable(&world.plan, "SSL_CERT_FILE"),
		     "/etc/ssl/certs/ca-certificates.crt");
	world_free(&world);

	world_nix_build(&world);
	world.facts.shell = NULL;
	CHECK(!world_plan(&world) && strstr(world.error.hint, "/nix/store"));
	world_free(&world);

	world_bare(&world);
	world.facts.store.only = true;
	world.facts.store.certificates = "/nix/store/a-cacert/etc/ssl/certs/ca-bundle.crt";
	CHECK(world_plan(&world));
	CHECK_STRING(plan_variable(&world.plan, "SSL_CERT_FILE"), world.facts.store.certificates);
	world_free(&world);
}

static const char *passwd_of(const char *user, const char *home)
{
	static char copy[512];
	struct world world;

	world_debian(&world);
	world.facts.user = user;
	world.facts.home = home;
	world.facts.project = "/srv/x";
	world_plan(&world);
	snprintf(copy, sizeof(copy), "%s", world_data(&world, "/etc/passwd"));
	world_free(&world);
	return copy;
}

#define NOBODY "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"

// /etc/passwd has one line for each user, also with hostile names.
static void test_accounts(void)
{
	CHECK_STRING(passwd_of("user", HOME),
		     "user:x:1000:1000:user:/home/user:/bin/bash\n" NOBODY);
	CHECK_STRING(passwd_of("a:b", HOME), "user:x:1000:1000:user:/home/user:/bin/bash\n" NOBODY);
	CHECK_STRING(passwd_of("a\nroot:x:0", HOME),
		     "user:x:1000:1000:user:/home/user:/bin/bash\n" NOBODY);
	CHECK_STRING(passwd_of("", HOME), "user:x:1000:1000:user:/home/user:/bin/bash\n" NOBODY);
	CHECK_STRING(passwd_of("user", "/a:b"), "user:x:1000:1000:user:/:/bin/bash\n" NOBODY);
}

static enum mount_kind kind_at(const struct world *world, const char *path)
{
	enum mount_kind found = MOUNT_KIND_COUNT;

	vec_each(mount, &world->plan.mounts) {
		if (str_equal(mount->path, path))
			found = mount->kind;
	}
	return found;
}

static void world_containers(struct world *world, bool nested, bool installed)
{
	world_debian(world);
	world->config.nested = nested;
	world->config.nested_origin = origin_requested("profile x");
	for (size_t i = 0; i < system_table_count && installed; i++)
		if (system_table[i].nested)
			world_file(world, FILE_REGULAR, system_table[i].path, system_table[i].path);
	CHECK(world_plan(world));
}

// Files for podman are in nested boxes on hosts with podman, and in no other box.
static void test_containers(void)
{
	struct world world;

	for (int i = 0; i < 3; i++) {
		world_containers(&world, i & 1, i & 2);
		vec_each(mount, &world.plan.mounts)
			CHECK_CASE(!path_within(mount->path, "/etc/containers") &&
					   !path_within(mount->path, "/sys"),
				   mount->path);
		CHECK(!plan_variable(&world.plan, "CONTAINERS_STORAGE_CONF"));
		CHECK(!strstr(world_data(&world, "/etc/claude-code/CLAUDE.md"), "crun"));
		world_free(&world);
	}
	world_containers(&world, true, true);
	for (size_t i = 0; i < system_table_count; i++)
		if (system_table[i].nested)
			CHECK_CASE(kind_at(&world, system_table[i].path) == MOUNT_READ_ONLY,
				   system_table[i].path);
	CHECK(kind_at(&world, "/sys/fs/cgroup") == MOUNT_DIRECTORY);
	CHECK_STRING(plan_variable(&world.plan, "CONTAINERS_STORAGE_CONF"), CONTAINERS_STORAGE);
	CHECK(strstr(world_data(&world, CONTAINERS_STORAGE), "driver = \"vfs\"\n"));
	CHECK(strstr(world_data(&world, "/etc/claude-code/CLAUDE.md"), "crun"));
	world_free(&world);

	world_containers(&world, true, true);
	world.facts.overlay_on_tmpfs = true;
	CHECK(world_plan(&world));
	CHECK(strstr(world_data(&world, CONTAINERS_STORAGE), "driver = \"overlay\"\n"));
	world_free(&world);
}

// The audit and the script show every variable and every mount of the plan.
static void test_nothing_hidden(void)
{
	for (size_t i = 0; i < distribution_count; i++) {
		struct world world;
		const char *audit;
		const char *script;

		distributions[i].make(&world);
		world_plan(&world);
		audit = render_audit(&world.plan, &world.arena, (struct reader){ 0 });
		script = render_dry_run(&world.plan, &world.arena);
		vec_each(variable, &world.plan.variables)
			CHECK_CASE(strstr(audit, variable->name) && strstr(script, variable->name),
				   variable->name);
		vec_each(mount, &world.plan.mounts) {
			bool from_host = mount->kind == MOUNT_READ_ONLY ||
					 mount->kind == MOUNT_WRITABLE;
			const char *shown = path_tilde(&world.arena, mount->path, world.plan.home);

			CHECK_CASE(strstr(script, mount->path) != NULL, mount->path);
			if (from_host)
				CHECK_CASE(mount->why && strstr(audit, shown), mount->path);
		}
		world_free(&world);
	}
}

int main(void)
{
	test_nix_configuration_without_secrets();
	test_covered_certificates();
	test_store_only();
	test_accounts();
	test_containers();
	test_nothing_hidden();
	return check_done();
}
