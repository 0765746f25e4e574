// SPDX-License-Identifier: MIT
// Tests of refusals: directories that cannot be a project, and state and repositories that are not
// used.
#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/secrets/places.h"
#include "plan/tables.h"

#include <string.h>

static struct arena arena;

// Returns the error message of the plan, or "ok".
static const char *verdict(struct world *world)
{
	const char *text = world_plan(world) ? "ok" : arena_strdup(&arena, world->error.message);

	return text;
}

static const char *verdict_on(const char *project)
{
	struct world world;
	const char *text;

	world_debian(&world);
	world.facts.project = project;
	text = verdict(&world);
	world_free(&world);
	return text;
}

static bool refused(const char *project)
{
	return str_starts(verdict_on(project), arena_printf(&arena, "project '%s' ", project));
}

static void test_accepted_projects(void)
{
	static const char *const projects[] = {
		PROJECT,
		HOME "/.config/nvim",
		HOME "/.sshd",
		HOME "/.claude-code",
		HOME "/src/.ssh",
		"/srv/www",
		"/opt/x",
		"/tmp/x",
		"/dev/shm/x",
		"/home/user2",
		"/home/users/x",
		"/usr/src/x",
		"/run/media/user/disk",
		"/mnt",
	};

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++)
		CHECK_CASE_STRING(verdict_on(projects[i]), "ok", projects[i]);
}

static void test_home(void)
{
	CHECK(refused(HOME));
	CHECK(refused("/home"));
	CHECK(refused("/"));
	CHECK_STRING(verdict_on(HOME "/\033"), "ok");
	CHECK_STRING(
		verdict_on("/home"),
		"project '/home' contains '/home/user' (your home directory, with all its secrets)");
}

static void test_secret_rows(void)
{
	for (size_t i = 0; i < secret_table_count; i++) {
		const char *place = path_expand_home(&arena, secret_table[i].path, HOME);
		const char *above = path_parent(&arena, place);
		const char *message = verdict_on(place);

		CHECK_CASE(refused(place) && strstr(message, secret_table[i].what), message);
		CHECK_CASE(refused(path_join(&arena, place, "x/y")), "... a directory in it");
		CHECK_CASE(refused(above), "... the directory that contains it");
	}
}

// A secret place that is a link to another directory.
static void test_linked_secrets(void)
{
	static const char *const real[] = { PROJECT, PROJECT "/dotfiles/x", HOME "/elsewhere" };
	static const char *const project[] = { PROJECT, PROJECT, HOME "/elsewhere/below" };

	for (size_t row = 0; row < secret_table_count; row += 7) {
		for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
			struct world world;

			world_debian(&world);
			world.facts.project = project[i];
			world.facts.secrets.items[row].real = real[i];
			CHECK_CASE(str_starts(verdict(&world), "project '"),
				   arena_printf(&arena, "%s is in %s, project %s",
						secret_table[row].path, real[i], project[i]));
			world_free(&world);
		}
	}
}

// The comparison from the end of the home directory on has the result of the one of whole paths.
static void test_secrets_in_home(void)
{
	static const char *const others[] = { HOME,    HOME "/x",    HOME "x", HOME "x/.ssh",
					      "/",     "/home",      "/usr",   HOME "/.ss",
					      "/.ssh", HOME "/.sshx" };
	struct world world;
	strings paths = { 0 };
	size_t near = 0;

	world_debian(&world);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		vec_push(&arena, &paths, others[i]);
	vec_each(secret, &world.facts.secrets) {
		vec_push(&arena, &paths, secret->path);
		vec_push(&arena, &paths, path_parent(&arena, secret->path));
		vec_push(&arena, &paths, path_join(&arena, secret->path, "below"));
		vec_push(&arena, &paths, arena_printf(&arena, "%sx", secret->path));
	}
	vec_each(path, &paths) {
		bool expected = plan_near_secret(&world.facts, *path);

		near += expected;
		vec_each(secret, &world.facts.secrets)
			secret->home = path_within(secret->path, HOME) ? strlen(HOME) : 0;
		CHECK_CASE(plan_near_secret(&world.facts, *path) == expected, *path);
		vec_each(secret, &world.facts.secrets)
			secret->home = 0;
	}
	CHECK(near > 0 && near < paths.count);
	world_free(&world);
}

static void test_refused_rows(void)
{
	for (size_t i = 0; i < refused_project_count; i++) {
		const struct refused_row *row = &refused_projects[i];
		const char *place = path_expand_home(&arena, row->path, HOME);

		CHECK_CASE(refused(place), place);
		CHECK_CASE(refused(path_parent(&arena, place)),
			   "... the directory that contains it");
		if (row->inside)
			CHECK_CASE(refused(path_join(&arena, place, "x")), "... a directory in it");
	}
}

// claudebox puts the instructions for Claude there.
static void test_policy_directory(void)
{
	CHECK(refused("/etc/claude-code"));
}

// It contains the sockets of the session.
static void test_runtime_directory(void)
{
	CHECK(refused("/run/user/1000"));
	CHECK(refused("/run/user/1000/gnupg"));
}

// The user's Claude directory has conversations and tokens of other projects, at any path.
static void test_moved_claude_directory(void)
{
	static const char *const projects[] = { HOME "/notes/claude", HOME "/notes",
						HOME "/notes/claude/projects" };

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		struct world world;

		world_debian(&world);
		world.facts.user_claude.directory = HOME "/notes/claude";
		world.facts.project = projects[i];
		CHECK_CASE(str_starts(verdict(&world), "project '"),
			   arena_printf(&arena, "CLAUDE_CONFIG_DIR, project %s", projects[i]));
		world_free(&world);
	}
}

static void test_project_problem(void)
{
	struct world world;

	world_debian(&world);
	world.facts.project = "/x\033";
	world.facts.project_problem = "cannot be read";
	CHECK_STRING(verdict(&world), "project '/x\\x1b' cannot be read");
	world.facts.project = NULL;
	CHECK_STRING(verdict(&world), "project '.' cannot be read");
	world_free(&world);
}

static void test_state(void)
{
	static const struct {
		struct state_facts facts;
		const char *wanted;
	} rows[] = {
		{ { .root_kind = FILE_MISSING }, "ok" },
		{ { .root_kind = FILE_DIRECTORY, .root_mode = 0700 }, "ok" },
		{ { .root_kind = FILE_DIRECTORY, .root_mode = 0500 }, "ok" },
		{ { .root_kind = FILE_OTHER, .root_is_link = true, .root_mode = 0777 },
		  "state directory '/s' is a symbolic link" },
		{ { .root_kind = FILE_REGULAR, .root_mode = 0600 },
		  "state directory '/s' is not a directory" },
		{ { .root_kind = FILE_OTHER }, "state directory '/s' is not a directory" },
		{ { .root_kind = FILE_DIRECTORY, .root_mode = 0700, .root_foreign = true },
		  "state directory '/s' belongs to another user" },
		{ { .root_kind = FILE_DIRECTORY, .root_mode = 0750 },
		  "state directory '/s' is open to other users (mode 750)" },
		{ { .root_kind = FILE_DIRECTORY, .root_mode = 0701 },
		  "state directory '/s' is open to other users (mode 701)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;

		world_debian(&world);
		world.facts.state = rows[i].facts;
		world.facts.state.root = "/s";
		CHECK_CASE_STRING(verdict(&world), rows[i].wanted, rows[i].wanted);
		world_free(&world);
	}
}

// A configuration file that home-manager keeps in the store is readable by all users: not a secret.
static void test_store_links(void)
{
	struct world world;

	world_nixos(&world);
	for (size_t i = 0; i < secret_table_count; i++)
		if (str_equal(secret_table[i].path, "~/.npmrc"))
			world.facts.secrets.items[i].real = "/nix/store/ffff-home-files/.npmrc";
	CHECK_STRING(verdict(&world), "ok");
	CHECK(plan_provides(&world.plan, "/nix/store"));
	world_free(&world);
}

// $HOME may differ from the account's home directory: neither can be a project.
static void test_other_home(void)
{
	static const char *const projects[] = { HOME, "/home", "/srv/home", "/srv" };
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		world_debian(&world);
		world.facts.home = "/srv/home";
		world.facts.project = projects[i];
		CHECK_CASE(str_starts(verdict(&world), "project '"), projects[i]);
		world_free(&world);
	}
	world_debian(&world);
	world.facts.home = "/srv/home";
	CHECK_CASE_STRING(verdict(&world), "ok", "a project in the account's home directory");
	world_repository(&world, HOME, HOME "/.git", HOME "/.git");
	CHECK_CASE(!plan_git(&world.facts), "a repository around the account's home directory");
	world_free(&world);
}

// The targets of the user's own links are checked too.
static void test_links_to_secrets(void)
{
	struct world world;
	const char *instructions = HOME "/.claude/CLAUDE.md";

	world_debian(&world);
	vec_push(&world.arena, &world.facts.user_claude.entries,
		 world_followed(&world, FILE_REGULAR, instructions, HOME "/.ssh/id_rsa",
				instructions, "../.ssh/id_rsa", NO_MORE));
	world_variable(&world, "SSL_CERT_FILE=/srv/ca.pem");
	world_file(&world, FILE_REGULAR, "/srv/ca.pem", HOME "/.aws/ca.pem", "/srv/ca.pem",
		   HOME "/.aws/ca.pem");
	CHECK_STRING(verdict(&world), "ok");
	vec_each(mount, &world.plan.mounts)
		CHECK_CASE(!mount->source || (!path_within(mount->source, HOME "/.ssh") &&
					      !path_within(mount->source, HOME "/.aws")),
			   mount->path);
	CHECK_STRING(plan_variable(&world.plan, "SSL_CERT_FILE"),
		     "/etc/ssl/certs/ca-certificates.crt");
	CHECK(world.plan.warnings.count == 3);
	world_free(&world);
}

static void test_git(void)
{
	static const struct {
		const char *what;
		const char *top;
		const char *directory;
		const char *common;
		bool used;
	} rows[] = {
		{ "the project's own", PROJECT, PROJECT "/.git", PROJECT "/.git", true },
		{ "around the home directory", HOME, HOME "/.git", HOME "/.git", false },
		{ "above the home directory", "/home", "/home/.git", "/home/.git", false },
		{ "with its history in a secret place", PROJECT, "/srv/x/.git/worktrees/x",
		  HOME "/.ssh/x", false },
		{ "with its git directory in a secret place", PROJECT, HOME "/.ssh/x",
		  "/srv/x/.git", false },
		{ "with its history in the home directory", PROJECT, PROJECT "/.git", HOME, false },
		{ "around other secrets", HOME "/.config", HOME "/.config/.git",
		  HOME "/.config/.git", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;

		world_debian(&world);
		world_repository(&world, rows[i].top, rows[i].directory, rows[i].common);
		CHECK_CASE_STRING(verdict(&world), "ok", rows[i].what);
		CHECK_CASE((plan_git(&world.facts) != NULL) == rows[i].used, rows[i].what);
		CHECK_CASE((plan_git_refusal(&world.facts) == NULL) == rows[i].used, rows[i].what);
		if (!rows[i].used)
			CHECK_CASE_STRING(world.plan.state.canonical_root, PROJECT,
					  "... its own instance");
		world_free(&world);
	}
}

int main(void)
{
	test_accepted_projects();
	test_home();
	test_secret_rows();
	test_linked_secrets();
	test_secrets_in_home();
	test_refused_rows();
	test_policy_directory();
	test_runtime_directory();
	test_moved_claude_directory();
	test_project_problem();
	test_state();
	test_store_links();
	test_other_home();
	test_links_to_secrets();
	test_git();
	arena_free(&arena);
	return check_done();
}
