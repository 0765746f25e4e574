// SPDX-License-Identifier: MIT
// Tests of paths that Claude's files and arguments name: what is offered, listed, mounted.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/claude/named_paths.h"

#include <string.h>

static struct arena arena;

static void test_imports(void)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "@a.md", "a.md" },
		{ "see @~/b.md and\t@/c.md.", "~/b.md /c.md." },
		{ "mail me@x.org", "" },
		{ "`@a` @b ``@c ` @d`` @e", "b e" },
		{ "an open ` @a", "a" },
		{ "```\n@a\n```\n@b\n~~~ sh\n@c\n~~~\n@d", "b d" },
		{ "@with\\ blank.md x", "with blank.md" },
		{ "@a\\b", "a" },
		{ "- @x\r\n@y\r\n", "x y" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strings found = claude_find_imports(&arena, rows[i][0]);
		struct text out = { .arena = &arena };

		vec_each(word, &found)
			text_printf(&out, "%s%s", out.length ? " " : "", *word);
		CHECK_CASE_STRING(text_get(&out), rows[i][1], rows[i][0]);
	}
}

// "what (why): option", one on each line.
static const char *render_left_out(const struct plan *plan)
{
	struct text out = { .arena = &arena };

	vec_each(row, &plan->left_out)
		text_printf(&out, "%s (%s): %s\n", row->what, row->why,
			    row->option ? row->option : "-");
	return text_get(&out);
}

static void add_named(struct world *world, enum file_kind kind, const char *path, const char *real)
{
	vec_push(&world->arena, &world->facts.named,
		 (struct named_facts){ .file = world_followed(world, kind, path, real, NO_MORE),
				       .by = "your CLAUDE.md" });
}

static void test_own_paths_are_offered(void)
{
	struct world world;

	world_debian(&world);
	add_named(&world, FILE_REGULAR, HOME "/notes/a:b.md", HOME "/notes/a:b.md");
	add_named(&world, FILE_REGULAR, HOME "/.claude/more.md", HOME "/.claude/more.md");
	add_named(&world, FILE_REGULAR, HOME "/link.md", HOME "/.ssh/id_rsa");
	add_named(&world, FILE_REGULAR, HOME "/.aws/x.md", HOME "/.aws/x.md");
	add_named(&world, FILE_DIRECTORY, "/usr/share/doc", "/usr/share/doc"); // in the box
	add_named(&world, FILE_REGULAR, PROJECT "/x.md", PROJECT "/x.md");
	CHECK(world_plan(&world));
	CHECK_STRING(render_left_out(&world.plan),
		     "~/notes/a:b.md (named by your CLAUDE.md): --mount-ro ~/notes/a\\\\:b.md\n"
		     "~/.claude/more.md (named by your CLAUDE.md): --append-system-prompt-file "
		     "~/.claude/more.md\n"
		     "~/link.md (named by your CLAUDE.md; it leads to a secret place): -\n"
		     "~/.aws/x.md (named by your CLAUDE.md; it leads to a secret place): -\n");
	world.config.payload = PAYLOAD_SHELL;
	CHECK(world_plan(&world) && world.plan.left_out.count == 0);
	world_free(&world);
}

static void test_paths_of_the_repository_are_listed(void)
{
	struct world world;

	world_debian(&world);
	claude_add_repository_settings(
		&world.facts, &world.arena, ".claude/settings.json",
		"{\"permissions\": {\"additionalDirectories\": [\"~/.ssh\", \"../other\", \"sub\", "
		"\"/usr/share\", 3, \"\"]}}");
	claude_add_repository_settings(
		&world.facts, &world.arena, ".mcp.json",
		"{\"mcpServers\": {\"a\": {\"command\": \"/opt/x\\u001b[2J\", \"args\": "
		"[\"$HOME/.aws\", \"-x\", \"~/.ssh\", \"./y\", 1]}, \"b\": 3}}");
	claude_add_repository_imports(&world.facts, &world.arena, ".claude/CLAUDE.md",
				      "@~/.gnupg/x @../in-project.md @../../out.md @name");
	claude_add_repository_imports(&world.facts, &world.arena, "CLAUDE.md", "@/a @/b @/c");
	CHECK(world_plan(&world));
	CHECK_STRING(render_left_out(&world.plan),
		     "~/.ssh (named by the repository, in .claude/settings.json): -\n"
		     "~/other (named by the repository, in .claude/settings.json): -\n"
		     "/opt/x\\x1b[2J (named by the repository, in .mcp.json): -\n"
		     "~/.aws (named by the repository, in .mcp.json): -\n"
		     "~/.gnupg/x (named by the repository, in .claude/CLAUDE.md): -\n"
		     "4 more paths (named by the repository): -\n");
	vec_each(mount, &world.plan.mounts)
		CHECK_CASE(!mount->source || !strstr(mount->source, "/.ssh"), mount->path);
	world_free(&world);
}

// Adds an argument of claude that names a path, as the probe does.
static void add_argument(struct world *world, const char *option, enum file_kind kind,
			 const char *path, const char *real)
{
	struct followed file = world_followed(world, kind, path, real, NO_MORE);

	vec_push(&world->arena, &world->facts.mounts,
		 (struct mount_facts){ .written = path,
				       .source = file,
				       .destination = file,
				       .argument = true,
				       .origin = origin_requested(option) });
}

// "path <- source", for each requested mount.
static const char *render_requested(const struct plan *plan)
{
	struct text out = { .arena = &arena };

	vec_each(mount, &plan->mounts) {
		if (mount->origin.kind == ORIGIN_REQUESTED && plan_from_host(mount))
			text_printf(&out, "%s %s <- %s%s\n", mount->origin.name, mount->path,
				    mount->source, mount->secret ? " SECRET" : "");
	}
	return text_get(&out);
}

static void test_arguments_are_mounted(void)
{
	struct world world;

	world_debian(&world);
	world_arguments(&world, (const char *const[]){ "--add-dir", HOME "/lib/x", HOME "/lib",
						       "--mcp-config=~/.claude/m.json", NULL });
	add_argument(&world, "--add-dir", FILE_DIRECTORY, HOME "/lib/x", HOME "/lib/x");
	add_argument(&world, "--add-dir", FILE_DIRECTORY, HOME "/lib", HOME "/lib");
	add_argument(&world, "--plugin-dir", FILE_DIRECTORY, HOME "/lib", HOME "/lib");
	add_argument(&world, "--add-dir", FILE_DIRECTORY, PROJECT "/sub", PROJECT "/sub");
	add_argument(&world, "--add-dir", FILE_DIRECTORY, "/usr/share", "/usr/share");
	add_argument(&world, "--mcp-config", FILE_REGULAR, HOME "/.claude/m.json",
		     HOME "/.claude/m.json");
	CHECK(world_plan(&world) && plan_check(&world.plan, &world.facts, &world.error));
	CHECK_STRING(render_requested(&world.plan), "--add-dir " HOME "/lib <- " HOME "/lib\n"
						    "--mcp-config /run/claudebox/agent" HOME
						    "/.claude/m.json <- " HOME "/.claude/m.json\n");
	CHECK_STRING(world.plan.command.items[world.plan.command.count - 1],
		     "--mcp-config=/run/claudebox/agent" HOME "/.claude/m.json");
	world_free(&world);
}

static void test_arguments_that_are_refused(void)
{
	static const struct {
		const char *path;
		const char *real;
		enum file_kind kind;
		const char *message; // NULL: mounted, as a secret
	} rows[] = {
		{ HOME "/gone", HOME "/gone", FILE_MISSING,
		  "--add-dir: '" HOME "/gone' does not exist" },
		{ HOME "/fifo", HOME "/fifo", FILE_OTHER,
		  "--add-dir: '" HOME "/fifo' is neither a file nor a directory" },
		{ HOME, HOME, FILE_DIRECTORY,
		  "--add-dir: '" HOME "' contains your home directory" },
		{ PROJECT "/link", HOME "/.ssh", FILE_DIRECTORY,
		  "--add-dir: '" PROJECT "/link' leads to '" HOME "/.ssh' (SSH keys)" },
		{ HOME "/.ssh", HOME "/.ssh", FILE_DIRECTORY, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;
		bool ok;

		world_debian(&world);
		add_argument(&world, "--add-dir", rows[i].kind, rows[i].path, rows[i].real);
		ok = world_plan(&world);
		CHECK_CASE_STRING(ok ? render_requested(&world.plan) : world.error.message,
				  rows[i].message ? rows[i].message
						  : "--add-dir " HOME "/.ssh <- " HOME
						    "/.ssh SECRET\n",
				  rows[i].path);
		world_free(&world);
	}
}

// A box may have planted the link, so the mount does not follow it.
static void test_a_link_in_the_project(void)
{
	struct world world;
	struct mount_facts *mount;

	world_debian(&world);
	add_argument(&world, "--add-dir", FILE_DIRECTORY, PROJECT "/link", HOME "/other");
	mount = &world.facts.mounts.items[0];
	vec_push(&world.arena, &mount->destination.hops,
		 (struct link_hop){ PROJECT "/link", HOME "/other" });
	CHECK(!world_plan(&world));
	CHECK_STRING(world.error.message,
		     "--add-dir: '" PROJECT "/link' would be mounted through a symbolic link");
	world_free(&world);
}

int main(void)
{
	test_imports();
	test_own_paths_are_offered();
	test_paths_of_the_repository_are_listed();
	test_arguments_are_mounted();
	test_arguments_that_are_refused();
	test_a_link_in_the_project();
	arena_free(&arena);
	return check_done();
}
