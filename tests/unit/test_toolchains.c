// SPDX-License-Identifier: MIT
// Toolchains: the table of managers, the mounts and variables that follow from facts, and PATH.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/toolchains.h"
#include "fixture.h"
#include "plan/approval.h"
#include "plan/approved_lines.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/secrets/places.h"
#include "plan/toolchains/clean.h"
#include "plan/toolchains/managers.h"

#include <string.h>

static struct arena arena;

// Returns whether a pattern has a component with this name, alone or in braces.
static bool names(const char *pattern, const char *name)
{
	size_t length = strlen(name);

	for (const char *s = pattern; (s = strstr(s, name)); s += length)
		if ((s == pattern || strchr("/{,", s[-1])) &&
		    (!s[length] || strchr("/},", s[length])))
			return true;
	return false;
}

static void test_rows(void)
{
	// Directories and files beside programs that have settings, data or tokens.
	static const char *const never[] = {
		".git",        "var",       ".condarc",     "pip.conf",
		"npmrc",       ".npmrc",    "credentials",  "credentials.toml",
		"config.toml", "auth.json", "settings.xml", "registry",
		"..",          "."
	};
	unsigned int seen = 0;

	for (size_t i = 0; i < manager_table_count; i++) {
		const struct manager_row *row = &manager_table[i];
		const char *name = toolchain_names[row->toolchain];

		seen |= TOOLCHAIN_BIT(row->toolchain);
		CHECK_CASE(name && row->why && row->roots[0] && row->parts[0], name);
		for (const char *const *root = row->roots; *root; root++)
			CHECK_CASE(strchr("$~/", **root) && !str_equal(*root, "~/"), *root);
		for (const char *const *part = row->parts; *part; part++) {
			CHECK_CASE(**part != '/' && **part != '~', *part);
			for (size_t k = 0; k < ARRAY_SIZE(never); k++)
				CHECK_CASE(!names(*part, never[k]), *part);
			CHECK_CASE(!names(*part, "etc") || strstr(*part, "etc/") ||
					   strstr(*part, "plugins/"),
				   *part);
		}
		for (const char *const *copy = row->copies; *copy; copy++)
			CHECK_CASE(!secret_file_path(*copy), *copy);
	}
	CHECK(seen == TOOLCHAINS_ALL);
}

// No listed part of a default root without a wildcard is, or lies in, a secret place.
static void test_no_secret_place(void)
{
	for (size_t i = 0; i < manager_table_count; i++)
		for (const char *const *root = manager_table[i].roots; *root; root++)
			for (const char *const *part = manager_table[i].parts; *part; part++)
				for (size_t k = 0; **root == '~' && k < secret_table_count; k++) {
					const char *path = path_join(&arena, *root, *part);

					CHECK_CASE(!path_within(path, secret_table[k].path), path);
				}
}

static struct toolchain_found *add_found(struct world *world, enum toolchain toolchain,
					 const char *root, const char *part)
{
	struct toolchain_found found = { .root = root, .real = root };
	const char *path = path_join(&world->arena, root, part);

	for (size_t i = manager_table_count; i-- > 0;)
		if (manager_table[i].toolchain == toolchain)
			found.row = &manager_table[i];
	vec_push(&world->arena, &found.parts,
		 (struct toolchain_part){
			 .file = world_followed(world, FILE_DIRECTORY, path, path, NO_MORE) });
	vec_push(&world->arena, &world->facts.toolchains.found, found);
	return &world->facts.toolchains.found.items[world->facts.toolchains.found.count - 1];
}

static void add_path(struct world *world, const char *path)
{
	vec_push(&world->arena, &world->facts.toolchains.path,
		 (struct path_entry){
			 .written = path,
			 .directory = world_followed(world, FILE_DIRECTORY, path, path, NO_MORE) });
}

static bool has_line(const struct plan *plan, const char *wanted)
{
	strings lines = approval_lines(&arena, plan);

	vec_each(line, &lines) {
		if (str_equal(*line, wanted))
			return true;
	}
	return false;
}

// Returns the number of rows that the box lacks and whose text starts so.
static int left_out(const struct plan *plan, const char *what)
{
	int count = 0;

	vec_each(row, &plan->left_out)
		count += str_starts(row->what, what);
	return count;
}

static void test_path(void)
{
	struct world world;
	const char *path;

	world_debian(&world);
	add_found(&world, TOOLCHAIN_CARGO, HOME "/.cargo", "bin");
	add_path(&world, "/usr/bin");
	add_path(&world, HOME "/.cargo/bin");
	add_path(&world, HOME "/bin");
	add_path(&world, HOME "/.cargo/bin");
	add_path(&world, PROJECT "/tools");
	CHECK(world_plan(&world) && plan_check(&world.plan, &world.facts, &world.error));
	path = plan_variable(&world.plan, "PATH");
	CHECK_CASE(str_starts(path, BOX_COMMAND ":" HOME "/.local/bin:/usr/bin:" HOME
						"/.cargo/bin:" PROJECT "/tools:/usr/local/"),
		   path);
	CHECK_CASE(!strstr(path, HOME "/bin"), path);
	CHECK(left_out(&world.plan, "~/bin") == 1);
	CHECK_STRING(world.plan.left_out.items[0].option, "--path ~/bin");
	world_free(&world);
}

static void test_approval(void)
{
	struct world world;
	struct toolchain_found *found;
	const char *before;

	world_debian(&world);
	found = add_found(&world, TOOLCHAIN_PYENV, HOME "/.pyenv", "versions/3.11/bin");
	CHECK(world_plan(&world));
	CHECK(has_line(&world.plan, "toolchain pyenv " HOME "/.pyenv"));
	CHECK(!has_line(&world.plan, "mount read-only " HOME "/.pyenv/versions/3.11/bin"));
	before = approval_render(&world.arena, &world.plan);
	vec_push(&world.arena, &found->parts,
		 (struct toolchain_part){ .file = world_followed(&world, FILE_DIRECTORY,
								 HOME "/.pyenv/versions/3.12/bin",
								 HOME "/.pyenv/versions/3.12/bin",
								 NO_MORE) });
	world.facts.state.approved = before;
	CHECK(world_plan(&world));
	CHECK_CASE(world.plan.changes.count == 0, "a new version is no change");
	add_found(&world, TOOLCHAIN_DENO, HOME "/.deno", "bin");
	CHECK(world_plan(&world));
	CHECK_CASE(world.plan.changes.count == 1, "a new manager is a change");
	world_free(&world);
}

// A toolchain never brings a secret, whatever the facts say.
static void test_secrets(void)
{
	static const char *const paths[] = { HOME "/.ssh", HOME "/.ssh/bin", HOME, "/home",
					     HOME "/.cargo/credentials.toml" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct world world;
		struct toolchain_found *found;

		world_debian(&world);
		found = add_found(&world, TOOLCHAIN_CARGO, HOME "/.cargo", "bin");
		found->parts.items[0].file = world_followed(&world, FILE_DIRECTORY,
							    HOME "/.cargo/bin", paths[i],
							    HOME "/.cargo/bin", paths[i], NO_MORE);
		CHECK_CASE(world_plan(&world) &&
				   plan_check(&world.plan, &world.facts, &world.error),
			   paths[i]);
		vec_each(mount, &world.plan.mounts)
			CHECK_CASE(!mount->toolchain, mount->path);
		CHECK_CASE(left_out(&world.plan, "~/.cargo/bin") == 1, paths[i]);
		world_free(&world);
	}
}

// A root that is a link: the box has a directory of its own there, and the real path leads to it.
static void test_linked_root(void)
{
	struct world world;
	struct toolchain_found *found;

	world_debian(&world);
	found = add_found(&world, TOOLCHAIN_CARGO, HOME "/.cargo", "bin");
	found->real = "/data/cargo";
	found->parts.items[0].file = world_followed(&world, FILE_DIRECTORY, "/data/cargo/bin",
						    "/data/cargo/bin", NO_MORE);
	CHECK(world_plan(&world) && plan_check(&world.plan, &world.facts, &world.error));
	CHECK(plan_provides(&world.plan, HOME "/.cargo/bin"));
	CHECK(!plan_provides(&world.plan, HOME "/.cargo/credentials.toml"));
	vec_each(mount, &world.plan.mounts) {
		if (str_equal(mount->path, "/data/cargo"))
			CHECK_STRING(mount->source, HOME "/.cargo");
		if (str_equal(mount->path, HOME "/.cargo/bin"))
			CHECK_CASE(str_equal(mount->source, "/data/cargo/bin") && !mount->bound,
				   "outside of the home, bwrap mounts it");
	}
	world_free(&world);
}

// A requested mount takes the place of a toolchain's parts.
static void test_requested(void)
{
	struct world world;

	world_debian(&world);
	add_found(&world, TOOLCHAIN_CARGO, HOME "/.cargo", "bin");
	vec_push(&world.arena, &world.facts.mounts,
		 (struct mount_facts){
			 .written = "~/.cargo",
			 .source = world_followed(&world, FILE_DIRECTORY, HOME "/.cargo",
						  HOME "/.cargo", NO_MORE),
			 .destination = world_followed(&world, FILE_DIRECTORY, HOME "/.cargo",
						       HOME "/.cargo", NO_MORE),
			 .origin = origin_requested("--mount-ro") });
	CHECK_CASE(!world_plan(&world) && strstr(world.error.message, "credentials"),
		   "a secret that exists refuses the mount");
	vec_each(secret, &world.facts.secrets)
		secret->missing = true;
	world.error.message = NULL;
	CHECK_CASE(world_plan(&world) && plan_check(&world.plan, &world.facts, &world.error),
		   "a secret that does not exist does not");
	CHECK(world.plan.warnings.count &&
	      strstr(world.plan.warnings.items[0].text, "if it appears"));
	vec_each(mount, &world.plan.mounts)
		CHECK_CASE(!mount->toolchain, mount->path);
	world_free(&world);
}

static void test_settings(void)
{
	static const struct {
		const char *text, *sections, *kept;
		bool shortened;
	} rows[] = {
		{ "3.12.1\n", NULL, "3.12.1\n", false },
		{ "3.12.1", NULL, "3.12.1\n", false },
		{ "", NULL, "", false },
		{ "[tools]\nnode = '22'\n[env]\nTOKEN = 'x'\n[settings.npm]\na = 1\n",
		  "tools settings", "[tools]\nnode = '22'\n[settings.npm]\na = 1\n", true },
		{ "[[env]]\nx = 1\n[ tools ]\na = 1\n", "tools", "[ tools ]\na = 1\n", true },
		{ "x = 1\n[tools]\nnode = \"22\" # mine\n# more\n\nb = ['1', \"2\"]\n"
		  "c = {version = '3', os = ['linux']}\n",
		  "tools",
		  "[tools]\nnode = \"22\"\nb = ['1', \"2\"]\nc = {version = '3', os = ['linux']}\n",
		  true },
		{ "env = {A = 'x'}\nenv.B = 'x'\n\"env\".C = 'x'\n[tools]\na = '1'\n", "tools",
		  "[tools]\na = '1'\n", true },
		{ "[tools]\na = '1'\nb = {version = '1', install_env = {T = 'x'}}\n[tools.x.env]\n"
		  "T = 'x'\n[tools.y]\nversion = '2'\n['tools'.z.'env']\nT = 'x'\n",
		  "tools", "[tools]\na = '1'\n[tools.y]\nversion = '2'\n", true },
		{ "[tasks.a]\nrun = \"\"\"\n[tools]\nx = 'y'\n\"\"\"\n[tools]\na = '1'\n", "tools",
		  "[tools]\na = '1'\n", true },
		{ "[tasks.a]\nrun = \"\"\"\n\\\"\"\"\n[tools]\nx = 'y'\n", "tools", "", true },
		{ "[env]\na = [\n'x',\n]\n[tools]\nx = 'y'\n", "tools", "", true },
		{ "[\"\\u0065nv\"]\na = 'x'\n[tools]\nx = 'y'\n", "tools", "", true },
		{ "[tools]\na = '1'\n\"\\u0065nv\".T = 'x'\nb = '2'\n", "tools",
		  "[tools]\na = '1'\n", true },
		{ "version = \"12\"\ndefault_toolchain = \"stable\"\n\n[overrides]\n\"/home/a/b\" = \"x\"\n",
		  ".", "version = \"12\"\ndefault_toolchain = \"stable\"\n", true },
		{ "overrides = {'/home/a' = 'x'}\nversion = '1'\n", ".", "version = '1'\n", true },
		{ "[tools]\na = '1'\n", "tools", "[tools]\na = '1'\n", false },
		{ "github_token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"\nx = 1\n", NULL,
		  "x = 1\n", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool shortened;

		CHECK_CASE_STRING(toolchain_clean_settings(&arena, rows[i].text, rows[i].sections,
							   &shortened),
				  rows[i].kept, rows[i].text);
		CHECK_CASE(shortened == rows[i].shortened, rows[i].text);
	}
}

static void test_variables(void)
{
	static const struct {
		const char *line;
		bool kept;
	} rows[] = {
		{ "GOPROXY=https://proxy.example,direct", true },
		{ "GOPROXY=https://proxy.example/|https://b.example:8080/,direct", true },
		{ "GOTOOLCHAIN=local", true },
		{ "GONOSUMDB=*.example,other.example/team", true },
		{ "GOPROXY=https://bob:pw@proxy.example,direct", false },
		{ "GOPROXY=https://proxy.example/t/abc/,direct", false },
		{ "GOPROXY=https://proxy.example?key=1", false },
		{ "GOFLAGS=-ldflags=\"x\"", false },
		{ "not a variable", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = arena_printf(&arena, "# about\n%s\n", rows[i].line);
		bool shortened;
		const char *kept = toolchain_clean_variables(&arena, text, &shortened);

		CHECK_CASE(!!*kept == rows[i].kept && shortened == !rows[i].kept, rows[i].line);
	}
}

// Addresses of plugins: a login stays outside in any spelling.
static void test_addresses(void)
{
	static const struct {
		const char *line;
		bool kept;
	} rows[] = {
		{ "a = 'https://git.example/team/plugin'", true },
		{ "a = 'https://git.example/team/plugin#v1'", true },
		{ "a = 'git@git.example:team/plugin'", true },
		{ "'npm:@scope/tool' = 'latest'", true },
		{ "'ubi:team/tool' = 'latest'", true },
		{ "a = 'node@20'", true },
		{ "a = 'https://bob:pw@git.example/x'", false },
		{ "a = 'https://bob@git.example/x'", false },
		{ "a = \"https:\\u002f\\u002fbob:pw\\u0040git.example/x\"", false },
		{ "a = \"https://bob:pw\\u0040git.example/x\"", false },
		{ "a = 'https://bob:pw%40git.example/x'", false },
		{ "a = 'https://bob%3Apw%2540git.example/x'", false },
		{ "a = 'HTTPS:/bob:pw@git.example/x'", false },
		{ "a = '//bob:pw@git.example/x'", false },
		{ "a = 'https:\\\\bob:pw@git.example\\x'", false },
		{ "a = {url = 'https://bob:p/w@git.example/x'}", false },
		{ "a = ['x', 'https://bob:p?w@git.example/x']", false },
		{ "'https://bob:pw@git.example/x' = 'latest'", false },
	};
	static const char *const tables[] = { "tools", "settings", "alias", "plugins" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *table = arena_printf(&arena, "[%s]\n", tables[i % ARRAY_SIZE(tables)]);
		const char *text = arena_printf(&arena, "%s%s\n", table, rows[i].line);
		bool shortened;

		CHECK_CASE_STRING(toolchain_clean_settings(
					  &arena, text, "tools settings alias plugins", &shortened),
				  rows[i].kept ? text : table, rows[i].line);
		CHECK_CASE(shortened == !rows[i].kept, rows[i].line);
	}
}

int main(void)
{
	test_rows();
	test_addresses();
	test_variables();
	test_no_secret_place();
	test_path();
	test_approval();
	test_secrets();
	test_linked_root();
	test_requested();
	test_settings();
	arena_free(&arena);
	return check_done();
}
